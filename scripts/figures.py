#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures of docs/trust.md: each measured by one command from start to end, kept as JSON, and made into a table.

  scripts/figures.py NAME [ARGUMENT...]   measures it, keeps the result in docs/figures/NAME.json, and makes the page's table
                                          anew. A run that was ended goes on where it was; ARGUMENTs are the tool's
  scripts/figures.py --keep NAME          the same of what the tool has left in build/ so far
  scripts/figures.py --pages              makes the tables of docs/figures anew
  scripts/figures.py --check              fails if a table is not what its JSON says

NAME            is measured by
mutation        scripts/mutate.py --count 1000 --singly; --seed N,M gives each a table of its own
determinism     scripts/determinism.sh, all cells
endurance       scripts/soak.sh 8; parts add up, whatever their HOURS
coverage        scripts/coverage.sh; with MODULEs, of these alone, a table for each such run

On the page a table stands between <!-- figures: NAME --> and <!-- end of figures -->.
"""
import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

TOP = Path(__file__).resolve().parent.parent
PAGE, KEPT, BUILD = TOP / "docs" / "trust.md", TOP / "docs" / "figures", TOP / "build"


def table(head, rows):
    lines = ["| " + " | ".join(str(cell) for cell in line) + " |" for line in [head, *rows]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


# --- mutation: what became of each mutant, by module, for each seed

HARDWARE = ("msr", "lbr", "pebs", "acr", "xsave", "ibs", "pmu")
OUTCOMES = ("killed", "alive", "equivalent", "does not compile", "not tried")


def keep_mutation(before):
    runs = json.loads((BUILD / "mutation" / "report.json").read_text())
    seeds = {run["seed"] for run in runs}
    others = [other for other in (before or []) if other["seed"] not in seeds]
    return sorted([*others, *runs], key=lambda each: each["seed"])


def mutation_row(name, counts):
    tried = counts["killed"] + counts["alive"]
    share = f"{100 * counts['killed'] / tried:.1f} %" if tried else "-"
    return [name, *(f"{counts[outcome]:,}" for outcome in OUTCOMES), share]


def mutation_table(run):
    modules = {name: Counter(counts) for name, counts in run["modules"].items()}
    hardware = {name: modules[name] for name in HARDWARE if name in modules}
    rows = [mutation_row(f"`{name}`", counts) for name, counts in hardware.items()]
    if hardware:
        rows.append(mutation_row("the hardware", sum(hardware.values(), Counter())))
    rows += [mutation_row(f"`{name}`", counts) for name, counts in modules.items() if name not in HARDWARE]
    rows.append(mutation_row("all", sum(modules.values(), Counter())))
    head = ["Module", "Killed", "Alive", "The same in other words", "Does not compile", "Not tried", "Killed of the rest"]
    said = f"Seed {run['seed']}, {run['count']:,} of {run['drawn_from']:,}, commit {run['commit']}, {run['date']}:"
    return f"{said}\n\n{table(head, rows)}"


# --- determinism: the hashes of all runs in each cell

COMPILERS, LEVELS = ("g++", "clang++-14", "clang++-19"), ("O0", "O2", "O3")


def keep_determinism(_):
    hashes, cells = {}, {}
    for when in sorted((BUILD / "determinism" / "results").glob("*.when")):
        if not when.name.startswith(COMPILERS):
            continue  # a pmusim that was built before
        hashes[when.stem] = when.with_suffix("").read_text()
        commit, date = when.read_text().split()
        cells[when.stem] = {"commit": commit, "date": date}
    if not hashes:
        sys.exit("figures.py: no cell has been run yet")
    usual = Counter(hashes.values()).most_common(1)[0][0]
    for name, cell in cells.items():
        cell["same"] = hashes[name] == usual
    return {"runs": len(usual.splitlines()), "cells": cells}


def determinism_table(kept_cells):
    cells = kept_cells["cells"]

    def said(name):
        return cells[name]["commit"] + ("" if cells[name]["same"] else " differs") if name in cells else "-"
    columns = [level + sanitized for sanitized in ("", "-san") for level in LEVELS]
    head = ["Compiler", *(f"`-{level}`" for level in LEVELS), *(f"`-{level}`, sanitized" for level in LEVELS)]
    rows = [[compiler, *(said(f"{compiler}-{column}") for column in columns)] for compiler in COMPILERS]
    dates = sorted(cell["date"] for cell in cells.values())
    same = sum(cell["same"] for cell in cells.values())
    return (f"{same} of {len(cells)} cells have the same bytes in all {kept_cells['runs']} runs, {dates[0]} to {dates[-1]}. "
            f"The commit that each was built of:\n\n{table(head, rows)}")


# --- endurance: all rounds together

def keep_endurance(before):
    """Rounds of one day on one commit are one entry; those of other machines, which build/ does not know, stay."""
    entries = {(e["date"], e["commit"], e["what"]): e for e in (before or {}).get("rounds", [])}
    here = {}
    for line in (BUILD / "soak" / "rounds.tsv").read_text().splitlines():
        date, commit, what, seconds, executions, coverage, result = line.split("\t")
        each = here.setdefault((date, commit, what), {"date": date, "commit": commit, "what": what, **NOTHING})
        add_round(each, int(seconds), int(executions), int(coverage or 0), result != "ok")
    rounds = sorted((entries | here).values(), key=lambda e: (e["date"], e["commit"], e["what"]))
    return {"rounds": rounds, "found": (before or {}).get("found", {})}


NOTHING = {"seconds": 0, "executions": 0, "coverage": 0, "failures": 0}


def add_round(to, seconds, executions, coverage, failures):
    to["seconds"] += seconds
    to["executions"] += executions
    to["coverage"] = max(to["coverage"], coverage)
    to["failures"] += failures


def endurance_table(soak):
    """`found` is written by hand: what failed, and where it was mended."""
    rounds, whats = soak["rounds"], {}
    for entry in rounds:
        add_round(whats.setdefault(entry["what"], dict(NOTHING)), *(entry[name] for name in NOTHING))
    head = ["What", "Hours", "Executions", "Coverage, edges", "Failures", "Found"]
    rows = [[f"`{what.removeprefix('fuzz_')}`", f"{each['seconds'] / 3600:.2f}" if each["seconds"] else "-",
             f"{each['executions']:,}", f"{each['coverage']:,}" if each["coverage"] else "-", each["failures"],
             soak["found"].get(what, "-")] for what, each in sorted(whats.items())]
    hours = sum(each["seconds"] for each in whats.values()) / 3600
    executions = sum(each["executions"] for each in whats.values())
    commits = ", ".join(dict.fromkeys(entry["commit"] for entry in rounds))
    return (f"{rounds[0]['date']} to {rounds[-1]['date']}, {hours:.2f} hours of work, {executions:,} executions; commits "
            f"{commits}.\n\n{table(head, rows)}")


# --- coverage: lines and sides of branches that the tests of the modules execute

def keep_coverage(before):
    """A run of all tests takes the place of all others, one of some modules that of those with no further modules."""
    run = json.loads((BUILD / "coverage" / "table.json").read_text())
    if not run["by"]:
        return [run]
    others = [other for other in (before or []) if other["by"] and not set(other["modules"]) - {"all"} <= set(run["modules"])]
    return sorted([*others, run], key=lambda each: each["date"])


def coverage_table(run):
    def share(hit, whole):
        return f"{100 * hit / whole:.1f} %" if whole else "-"
    rows = [[f"`{name}`" if name != "all" else "all", f"{m['lines']:,}", share(m["lines_hit"], m["lines"]), f"{m['sides']:,}",
             share(m["sides_hit"], m["sides"])] for name, m in run["modules"].items()]
    head = ["Module", "Lines", "of them executed", "Sides of branches", "of them executed"]
    by = f", by the tests of {', '.join(f'`{name}`' for name in run['by'])} alone" if run["by"] else ""
    return f"Commit {run['commit']}, {run['date']}{by}:\n\n{table(head, rows)}"


@dataclass(frozen=True)
class Figure:
    command: list[str]
    extra: list[str]        # if no ARGUMENT is given
    keep: Callable          # what is kept, from what was kept before
    tables: Callable        # of what is kept: Markdown


FIGURES = {
    "mutation": Figure(["scripts/mutate.py", "--count", "1000", "--singly"], [], keep_mutation,
                       lambda runs: "\n\n".join(map(mutation_table, runs))),
    "determinism": Figure(["scripts/determinism.sh"], [], keep_determinism, determinism_table),
    "endurance": Figure(["scripts/soak.sh"], ["8"], keep_endurance, endurance_table),
    "coverage": Figure(["scripts/coverage.sh"], [], keep_coverage, lambda runs: "\n\n".join(map(coverage_table, runs))),
}


def kept(name):
    path = KEPT / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def keep(name):
    KEPT.mkdir(exist_ok=True)
    try:
        content = FIGURES[name].keep(kept(name))
    except FileNotFoundError as missing:
        sys.exit(f"figures.py: {name} has left no result: {missing.filename}")
    (KEPT / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


PLACE = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.S)


def page():
    def made(found):
        content = kept(found[2])
        return found[1] + (FIGURES[found[2]].tables(content) + "\n" if content else "") + found[3]
    return PLACE.sub(made, PAGE.read_text())


def measure(name, arguments):
    figure = FIGURES[name]
    status = subprocess.run([*figure.command, *(arguments or figure.extra)], cwd=TOP, check=False).returncode
    keep(name)
    return status


def main():
    words = sys.argv[1:]
    status = 0
    if words == ["--check"]:
        if page() == PAGE.read_text():
            return 0
        print("docs/trust.md: a table is not what docs/figures says; scripts/figures.py --pages makes it anew", file=sys.stderr)
        return 1
    if words[:1] == ["--keep"] and len(words) == 2 and words[1] in FIGURES:
        keep(words[1])
    elif words and words[0] in FIGURES:
        status = measure(words[0], words[1:])
    elif words != ["--pages"]:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    PAGE.write_text(page())
    return status


if __name__ == "__main__":
    sys.exit(main())

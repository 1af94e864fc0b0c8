#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes the code in one place, runs the tests that come by it, and tells which changes nobody noticed.

  scripts/mutate.py [--count N] [--seed N,...] [--jobs N] [--state DIR] [--outcomes FILE] [MODULE...]

Mutants are drawn from src/MODULE of the modules in TESTS below (all of them, unless some are named): another relational,
arithmetic or bit operator, a constant one off, a condition negated, a statement dropped, two arguments swapped. The same
seed draws the same mutants from the same sources; a larger --count draws further ones.

All of them, those of several seeds too, are built into one copy of the tree in DIR (default build/mutation), and each is
chosen at run time by the environment; a run of each test without a mutant tells which it comes by. What the compiler computes
itself, or does not compile with a choice in it, is built alone with --singly, and is counted as not tried without.

Outcomes are kept in FILE (default tests/mutation/outcomes.tsv, which goes with the project), a line each: what was tried, on
whatever machine, is not tried again until its source changes, or the tests that decided: those of the program that killed it;
of a mutant that lives, those of all programs of its module. With --again what survived is tried again. The report names the survivors, and ends with the share of mutants that a test killed; those
listed with a reason in tests/mutation/equivalent.tsv, and those that do not compile or compile to the same object, count
as neither. Modules are tried in the order in which they are named. DIR/report.json has the same for programs.
"""
import argparse
import datetime
import functools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutation.building import Tree
from mutation.outcomes import ALIVE, NOT_TRIED, Results
from mutation.places import TOP, drawn, everything, numbered
from mutation.schemata import Asking
from mutation.singly import Workshop
from mutation.trying import Reach, try_out

# A module's own tests first, then those of its neighbours.
HARDWARE = ["pmu", "driver_on_pmu", "scenario", "machine"]
TESTS = {
    "msr": ["msr"] + HARDWARE,
    "lbr": ["lbr"] + HARDWARE,
    "pebs": ["pebs"] + HARDWARE,
    "acr": ["acr"] + HARDWARE,
    "xsave": ["xsave"] + HARDWARE,
    "ibs": HARDWARE + ["session"],
    "pmu": ["pmu", "msr", "observe", "driver_on_pmu", "scenario", "machine", "explore"],
    "driver": ["driver", "driver_on_pmu", "machine", "driver_explored", "session"],
    "perf": ["perf", "driver", "driver_on_pmu", "session"],
    "annotate": ["annotate", "session"],
    "trace": ["trace", "core", "formats", "replay", "session"],
    "explore": ["explore", "driver_explored", "trap_explored"],
    "core": ["core", "replay", "session"],
    "formats": ["formats"],
    "events": ["events", "session"],
    "perfdata": ["perfdata", "annotate", "session"],
    "symbols": ["symbols", "annotate"],
    "session": ["session"],
}


def try_together(mutants, left, given, results: Results, places):
    """Those that can be chosen at run time; the others are marked as not tried."""
    tree = Tree(given.state, given.jobs)
    tree.instrument(mutants, places)
    programs = sorted({p for m in mutants.values() for p in TESTS[m.module]})
    tree.make(programs)
    reach = Reach(given.state / "reach", given.jobs)
    for program in programs:
        reach.measure(program, tree.program(program))
    def one(number):
        mutant, asking = mutants[number], tree.alive_in.get(number)
        outcome = try_out(number, reach, TESTS[mutant.module], tree.program) if asking else NOT_TRIED
        # What only the compiler ran would have been changed in vain.
        in_vain = asking is Asking.at_run_time and outcome == "reached by no test"
        results.add(mutant, NOT_TRIED if in_vain else outcome)
    with ThreadPoolExecutor(given.jobs) as workers:
        list(workers.map(one, left))


def try_singly(mutants, given, results: Results):
    queue = [m for m in mutants.values() if results.of(m) == NOT_TRIED]
    workshop = Workshop(given.state / "singly", given.jobs) if queue else None
    for mutant in sorted(queue, key=lambda m: (m.file, m.line)):
        results.add(mutant, workshop.try_out(mutant, TESTS[mutant.module]))


@functools.cache
def equivalents():
    """FILE or FILE#N, line as it stands, line as changed -> why no test can tell."""
    path = TOP / "tests" / "mutation" / "equivalent.tsv"
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    for file, line, *_ in rows:
        if line not in map(str.strip, (TOP / file.split("#")[0]).read_text().splitlines()):
            print(f"equivalent.tsv: {file} has no such line any more: {line}", file=sys.stderr)
    return {tuple(row[:3]): row[3] for row in rows}


COLUMNS = ("killed", "alive", "equivalent", "does not compile", NOT_TRIED)


def column_of(mutant, outcome, reasons) -> str:
    if outcome in ("does not compile", NOT_TRIED):
        return outcome
    places = (mutant.file, f"{mutant.file}#{mutant.nth + 1}")
    if outcome == "same object" or any((place, mutant.before, mutant.after) in reasons for place in places):
        return "equivalent"
    return "alive" if outcome in ALIVE else "killed"


def counted(mutants, results: Results):
    """How many of each module became what."""
    reasons, counts = equivalents(), {}
    for mutant in mutants:
        row = counts.setdefault(mutant.module, dict.fromkeys(COLUMNS, 0))
        row[column_of(mutant, results.of(mutant) or NOT_TRIED, reasons)] += 1
    return {module: counts[module] for module in TESTS if module in counts}


def write_report(given, runs, results: Results, total: int):
    """What docs/trust.md is made of (scripts/figures.py): a table for each seed."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=TOP, capture_output=True, text=True, check=True)
    content = [{"seed": seed, "count": given.count, "drawn_from": total, "commit": commit.stdout.strip(),
                "date": datetime.date.today().isoformat(), "modules": counted(mutants, results)}
               for seed, mutants in runs.items()]
    (given.state / "report.json").write_text(json.dumps(content, indent=1) + "\n")


def report(mutants, results: Results):
    """Prints who survived, and the table of all. The status: 1 if anybody did."""
    reasons = equivalents()
    outcomes = {mutant: results.of(mutant) or NOT_TRIED for mutant in mutants}
    survivors = [m for m, outcome in outcomes.items() if column_of(m, outcome, reasons) == "alive"]
    for mutant in sorted(survivors, key=lambda m: (m.file, m.line)):
        print(f"{mutant.file}:{mutant.line}: {mutant.kind}: {outcomes[mutant]}\n  - {mutant.before}\n  + {mutant.after}")
    table = counted(mutants, results)
    table["all"] = {column: sum(row[column] for row in table.values()) for column in COLUMNS}
    print(f"\n{'module':<10}" + "".join(f"{c:>18}" for c in COLUMNS) + f"{'killed':>10}")
    for module, row in sorted(table.items(), key=lambda item: (item[0] == "all", item[0])):
        tried = row["killed"] + row["alive"]
        print(f"{module:<10}" + "".join(f"{row[c]:>18}" for c in COLUMNS) +
              (f"{100 * row['killed'] / tried:>8.1f} %" if tried else f"{'-':>10}"))
    return 1 if survivors else 0


def numbers(text: str):
    return [int(number) for number in text.split(",")]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(TESTS))
    options.add_argument("--count", type=int, default=100, help="how many to draw (default 100)")
    options.add_argument("--seed", type=numbers, default=[1], metavar="N,...", help="of one or several draws (default 1)")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--state", type=Path, default=TOP / "build" / "mutation", help="copy of the tree")
    options.add_argument("--outcomes", type=Path, default=TOP / "tests" / "mutation" / "outcomes.tsv", help="what is known")
    options.add_argument("--singly", action="store_true", help="build what cannot be chosen at run time one by one")
    options.add_argument("--again", action="store_true", help="try survivors again")
    options.add_argument("--report", action="store_true", help="only say what is known")
    given = options.parse_args()
    if unknown := [module for module in given.modules if module not in TESTS]:
        options.error(f"no module {unknown[0]}: one of {', '.join(TESTS)}")
    given.state = given.state.absolute()
    given.state.mkdir(parents=True, exist_ok=True)
    modules = given.modules or list(TESTS)
    places = numbered(everything(TESTS))
    here = {number: mutant for number, mutant in places.items() if mutant.module in modules}
    draws = {seed: drawn(here, seed, given.count) for seed in given.seed}
    mutants = {number: here[number] for draw in draws.values() for number in draw}
    results = Results(given.outcomes, TESTS)
    left = [n for n, m in mutants.items() if results.of(m) is None or given.again and results.of(m) in ALIVE]
    left.sort(key=lambda n: modules.index(mutants[n].module))
    print(f"{len(mutants)} of {len(here)} mutants drawn, {len(left)} to try", file=sys.stderr)
    if left and not given.report:
        try_together(mutants, left, given, results, places)
    if given.singly and not given.report:
        try_singly(mutants, given, results)
    if not given.report:
        results.tidy()
    write_report(given, {seed: [here[n] for n in draw] for seed, draw in draws.items()}, results, len(here))
    return report(list(mutants.values()), results)


if __name__ == "__main__":
    sys.exit(main())

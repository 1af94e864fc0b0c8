#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""coverage_table.py EXPORT MISSED TABLE [NAME...]: a table by module of what llvm-cov exported, printed and as JSON, and a list
of what was not executed. With NAMEs, of modules that are among them, by the tests of all of them.

A line counts as executed if any region that begins on it or covers it was; a branch has two sides. Instances of a template
count once: what one of them executed is executed.
"""
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys

from figures import coverage_table

TOP = pathlib.Path(__file__).resolve().parent.parent


def module_of(name):
    """`driver` of src/driver/intel/lbr/lbr.cpp and of include/pmusim/driver/drivers.h, None of what is elsewhere."""
    path = pathlib.Path(name)
    parts = path.relative_to(TOP).parts if path.is_relative_to(TOP) else ()
    first = {"src": 1, "include": 2}.get(parts[0], len(parts)) if parts else 0
    return parts[first] if len(parts) > first + 1 else None


def line_counts(instances):
    """Executions by line, of the lines that have code: the most of what a line begins with and what begins on it."""
    counts = {}
    for file in instances:
        current = None
        segments = file["segments"]
        for (line, _, count, has_count, is_entry, is_gap), following in zip(segments, segments[1:] + [None]):
            value = count if has_count and not is_gap else None
            if is_entry and value is not None:
                counts[line] = max(counts.get(line, 0), value)
            current = value
            end = following[0] if following else line + 1
            if current is not None:
                for within in range(line + 1, end):
                    counts[within] = max(counts.get(within, 0), current)
    return counts


def sides(branches):
    """(place, side) to executions."""
    taken = collections.Counter()
    for branch in branches:
        place = tuple(branch[:4])
        taken[place, True] += branch[4]
        taken[place, False] += branch[5]
    return taken


def main():
    export, missed, table, *names = sys.argv[1:]
    totals = collections.defaultdict(collections.Counter)
    files = collections.defaultdict(list)
    for file in json.load(open(export, encoding="utf-8"))["data"][0]["files"]:
        files[os.path.normpath(file["filename"])].append(file)  # compiler caches have other paths of the same file
    with open(missed, "w", encoding="utf-8") as out:
        for path, instances in sorted(files.items()):
            module = module_of(path)
            if module is None or names and module not in names:
                continue
            lines = line_counts(instances)
            branches = sides(branch for file in instances for branch in file.get("branches", []))
            never = sorted(line for line, count in lines.items() if count == 0)
            one_sided = sorted({place[0] for (place, side), count in branches.items() if count == 0} - set(never))
            for where in (module, "all"):
                totals[where].update(lines=len(lines), lines_hit=len(lines) - len(never), sides=len(branches),
                                     sides_hit=sum(1 for count in branches.values() if count))
            name = pathlib.Path(path).relative_to(TOP)
            if never or one_sided:
                print(f"{name}: lines {never}; one side of branches on {one_sided}", file=out)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=TOP, capture_output=True, text=True, check=True)
    modules = {name: totals[name] for name in sorted(totals, key=lambda name: (name == "all", name))}
    run = {"commit": commit.stdout.strip(), "date": datetime.date.today().isoformat(), "by": names, "modules": modules}
    pathlib.Path(table).write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    print(coverage_table(run))


if __name__ == "__main__":
    main()

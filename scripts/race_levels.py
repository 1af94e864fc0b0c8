#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Races replays by blocks against replays instruction by instruction, on recorded programs.

    scripts/race_levels.py PMUSIM TRACE... [--races N] [--seed N]

Each race draws a trace, a model, policies, a level of core, events, periods and branch filters, samples and counts them
with and without --exact, and compares what perf.data holds beside its header (which has the command line) and what stat
prints. Ends with status 1 at the first difference, after the command that shows it. The test LevelRace does the same on
short made-up programs.
"""
import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

FILTERS = [[], ["-b"], ["-j", "any_call,u"], ["-j", "any_ret,u"], ["-j", "cond,u"], ["-j", "call,stack,u"]]
LARGEST_POLICY = 40


def output(command):
    return subprocess.run(command, capture_output=True, text=True)


def names(command):
    return [each["name"] for each in json.loads(output([*command, "--json"]).stdout)]


def rows(command):
    """The words of a table's lines, without its headline."""
    return [line.split() for line in output(command).stdout.splitlines()[1:]]


def records(path):
    """The data section of a perf.data: where it is stands at byte 40 of the header."""
    content = pathlib.Path(path).read_bytes()
    start, length = struct.unpack_from("<QQ", content, 40)
    return content[start:start + length]


def draw_policies(dice, pmusim):
    arguments = []
    for name, _, limits, *_ in rows([pmusim, "policies"]):
        if dice.random() < 0.3:
            arguments += ["--policy", f"{name}={dice.randint(0, min(int(limits.split('-')[1]), LARGEST_POLICY))}"]
    return arguments


def known_events(pmusim, machine, candidates, trace):
    """Those that this level counts: the others are refused, or shown as not supported."""
    known = []
    for name in candidates:
        if output([pmusim, "stat", *machine, "-e", name, "--timeout", "1", trace]).returncode == 0:
            known.append(name)
    return known


def race(pmusim, dice, traces, folder):
    trace = dice.choice(traces)
    model = dice.choice(names([pmusim, "models"]))
    machine = ["--model", model, "--core", dice.choice(["flat", "simple", "memory"]), *draw_policies(dice, pmusim)]
    there = names([pmusim, "events", "--model", model])
    events = known_events(pmusim, machine, dice.sample(there, min(len(there), 6)), trace)
    events += ["cycles", "instructions"]
    precise = [e + dice.choice([":u", ":u", ":upp", ":up"]) for e in dice.sample(events, min(len(events), 4))]
    sample = [*machine, "-q", "-e", ",".join(precise), "-c", str(dice.randint(500, 50000)), *dice.choice(FILTERS)]
    out = str(pathlib.Path(folder) / "perf.data")
    left = {}
    for exact in ([], ["--exact"]):
        counted = output([pmusim, "stat", "-x,", *machine, *exact, "-e", ",".join(events), trace])
        sampled = output([pmusim, "record", *sample, *exact, "-o", out, trace])
        left[bool(exact)] = (counted.stderr, sampled.returncode, records(out) if sampled.returncode == 0 else sampled.stderr)
    if left[False] == left[True]:
        return left[True][1] == 0
    what = "stat -e " + ",".join(events) if left[False][0] != left[True][0] else "record " + " ".join(sample)
    sys.exit(f"differs from --exact: pmusim {what} {' '.join(machine)} {trace}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pmusim")
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    parser.add_argument("--races", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dice = random.Random(options.seed)
        sampled = sum(race(options.pmusim, dice, options.traces, folder) for _ in range(options.races))
    print(f"{options.races} races, {sampled} of them with samples: no difference")


if __name__ == "__main__":
    main()

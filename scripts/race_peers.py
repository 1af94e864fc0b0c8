#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays recorded programs at every level of core, beside other tools that run or replay the same programs.

    scripts/race_peers.py [PMUSIM] [--count N] [--rounds N] [--model MODEL]

Records N instructions (default 100 million, behind the first ten million) of gzip, Lua, a C compiler and sqlite3, those
that are installed, with and without addresses, and prints a table of instructions per second of CPU time and of memory.
Peers are cachegrind and qemu without a plugin, which run the whole program, and ChampSim (CHAMPSIM names its command),
which replays the same instructions. Needs the package time. All take turns; a figure is the least time of the rounds (default 3).
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple

import program_inputs

LEVELS = ["interval", "memory", "sampled", "simple", "flat"]
EVENTS = "cycles,instructions,branches,ref-cycles"
SKIP = 10_000_000

# Of a run: user and system time in seconds, the most memory in MB, and what it printed.
Run = namedtuple("Run", "seconds megabytes text")
Program = namedtuple("Program", "name command input")


def programs():
    """Those that are installed, with what they read."""
    program_inputs.write(".")
    compiler = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
    lua = next(filter(shutil.which, ["lua5.4", "lua5.3", "lua"]), "lua")
    every = [
        Program("gzip", ["gzip", "-kfc", "text"], None),
        Program("Lua", [lua, "bench.lua"], None),
        Program("cc1", [compiler or "cc1", "-quiet", "source.c", "-o", "/dev/null"], None),
        Program("sqlite3", ["sqlite3", ":memory:"], "fill.sql"),
    ]
    found = []
    for program in every:
        path = shutil.which(program.command[0])
        if path:
            found.append(program._replace(command=[path, *program.command[1:]]))
        else:
            print(f"{program.name} is not installed", file=sys.stderr)
    return found


def run(command, stdin=None):
    """Under time: what a process's parent held counts as its own memory."""
    with open(stdin or os.devnull, "rb") as read, tempfile.TemporaryFile() as out:
        status = subprocess.call(["/usr/bin/time", "-q", "-o", "usage", "-f", "%U %S %M", *command],
                                 stdin=read, stdout=out, stderr=subprocess.STDOUT)
        out.seek(0)
        text = out.read(1 << 20).decode(errors="replace")
    if status != 0:
        sys.exit(f"{' '.join(command)}: exit status {status}\n{text[-2000:]}")
    user, system, kilobytes = pathlib.Path("usage").read_text().split()
    return Run(float(user) + float(system), int(kilobytes) / 1024, text)


def least(commands, rounds):
    """The run of each (command, standard input) that took the least CPU time; they take turns."""
    best = [None] * len(commands)
    for _ in range(rounds):
        for index, (command, stdin) in enumerate(commands):
            once = run(command, stdin)
            if best[index] is None or once.seconds < best[index].seconds:
                best[index] = once
    return best


def record(pmusim, program, name, *options):
    """How many instructions the trace has."""
    run([pmusim, "trace", "record", "-q", "--fast", *options, "-o", name, *program.command], program.input)
    return int(json.loads(run([pmusim, "trace", "info", "--json", name]).text)["instructions"])


def race(pmusim, program, options):
    """What takes turns: (row, what it has of the program, instructions or none yet, command, standard input)."""
    entries = []
    for contents, flags in (("flow", ["--no-addresses"]), ("addresses", [])):
        trace = f"{program.name}.{contents}"
        count = record(pmusim, program, trace, "--skip", str(SKIP), "--count", str(options.count), *flags)
        for level in LEVELS:
            command = [pmusim, "stat", "--jobs", "1", "--model", options.model, "--core", level, "-e", EVENTS, trace]
            entries.append((f"`{level}`", contents, count, command, None))
    if os.environ.get("CHAMPSIM"):
        run([pmusim, "trace", "export", "-f", "champsim", "-o", "champsim.trace", f"{program.name}.addresses"])
        command = [os.environ["CHAMPSIM"], "--warmup-instructions", "0", "--simulation-instructions", str(count),
                   "champsim.trace"]
        entries.append(("ChampSim", "addresses", count, command, None))
    # Cachegrind says how many instructions the whole program has.
    entries.append(("cachegrind", "the whole program", None,
                    ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes",
                     "--cachegrind-out-file=/dev/null", "--log-file=cachegrind.log", *program.command], program.input))
    entries.append(("qemu, plain", "the whole program", None, ["qemu-x86_64", *program.command], program.input))
    return [entry for entry in entries if shutil.which(entry[3][0])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pmusim", nargs="?", default="build/release/bin/pmusim")
    parser.add_argument("--count", type=int, default=100_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default="icelake")
    options = parser.parse_args()
    pmusim = os.path.realpath(shutil.which(options.pmusim) or options.pmusim)
    print("| Program | | Of | Instructions | M/s | MB |\n|---|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for program in programs():
            entries = race(pmusim, program, options)
            best = least([(command, stdin) for _, _, _, command, stdin in entries], options.rounds)
            log = pathlib.Path("cachegrind.log")
            whole = log.exists() and int(re.search(r"I +refs: +([\d,]+)", log.read_text())[1].replace(",", ""))
            for (row, contents, count, _, _), once in zip(entries, best):
                known = count or whole
                shown = f"{known / 1e6:.1f} M | {known / once.seconds / 1e6:.1f}" if known else "not known | -"
                print(f"| {program.name} | {row} | {contents} | {shown} | {once.megabytes:.0f} |", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Races the machine of pmusim-machine, while its guest counts and samples, beside the emulator that it is made of.

    scripts/race_machine.py [MACHINE] [--model MODEL]... [--kernel BZIMAGE] [--program NAME]... [--way WORDS]... [--rounds N]
                            [--repetitions N]

MACHINE is what `machine/pmusim-machine build` has made (default build/machine). Guests run busybox's gzip and a loop of two
instructions under perf, and without it; a table says how many of the programs' instructions that makes per second of processor
time here; --way takes the rows with these words in their name alone, beside the plain emulator's. How many instructions they are
is guest time, a nanosecond each, of the plain emulator, in which no program can count. Each figure is a difference: of a run with
so many repetitions (N, or four times as many as often as need be) that they take seconds and one with none, so that booting
cancels out; interrupts and what perf does with samples are part of it. All take turns; a figure is the least time of the rounds
(default 3).
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import namedtuple

HERE = pathlib.Path(__file__).resolve().parent
LOOP_ROUNDS = 5_000_000

Way = namedtuple("Way", "name plain perf")
WAYS = [
    Way("the emulator, plain", True, ()),
    Way("nothing counts", False, ()),
    Way("four counters", False, ("stat", "-e", "cycles,instructions,branches,ref-cycles")),
    Way("`cycles`, period 1,000,003", False, ("record", "-q", "-e", "cycles", "-c", "1000003")),
    Way("PEBS: `cycles:pp`, period 100,003", False, ("record", "-q", "-e", "cycles:pp", "-c", "100003")),
    Way("LBR: `branches` with stacks, period 100,003", False, ("record", "-q", "-b", "-e", "branches", "-c", "100003")),
]
PROGRAMS = {"gzip": "gzip -c text >/dev/null", "loop": "./loop"}
LEAST_SECONDS = 5  # of processor time between a run with a program and one without

Ran = namedtuple("Ran", "guest_seconds seconds")


def prepare(machine):
    """In the current folder: what guests run, and a machine whose emulator is the plain one."""
    words = ("the", "counter", "overflows", "while", "branches", "retire", "precisely", "0123456789", "\n")
    state, text = 1, []
    for _ in range(200_000):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        text.append(words[(state >> 16) % len(words)])
    pathlib.Path("text").write_text(" ".join(text))
    subprocess.run(["gcc", "-nostdlib", "-static", f"-DROUNDS={LOOP_ROUNDS}", "-o", "loop", HERE.parent / "machine/tests/loop.S"],
                   check=True)
    plain = pathlib.Path("plain")
    plain.mkdir()
    for name in ("init", "firmware"):
        (plain / name).symlink_to(machine / name)
    (plain / "pmusim-machine-emulator").symlink_to(machine / "emulator/qemu-system-x86_64")


def run(machine, kernel, way, model, command, repetitions):
    """Processor time here, and how long it was for the guest."""
    pathlib.Path("command.sh").write_text(f"n=0; while [ $n -lt {repetitions} ]; do {command}; n=$((n+1)); done\n")
    shown = " ".join(["perf", *way.perf, *(["-o", "perf.data"] if way.perf else []), "sh command.sh"]) if way.perf else "sh command.sh"
    pathlib.Path("timed.sh").write_text(f"{shown}\necho guest $(cat /proc/uptime) >/dev/ttyS0\n")
    words = [machine / "pmusim-machine", "run", "--machine", "plain" if way.plain else machine, "--kernel", kernel,
             "--model", model, "--console", "console", "--file", "text", "--file", "loop", "--file", "command.sh", "--", "sh", "timed.sh"]
    child = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = child.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(child.pid, 0)
    told = [line.split()[1] for line in pathlib.Path("console").read_text(errors="replace").splitlines() if line.startswith("guest ")]
    if not told or (status != 0 and not way.plain):  # the plain one hands out nothing
        sys.exit(f"{way.name}: {command}: {said[-2000:]}")
    return Ran(float(told[-1]), usage.ru_utime + usage.ru_stime)


def race(machine, kernel, model, programs, ways, first_repetitions):
    """Instructions of each program once, and processor seconds for one, by way and program."""
    instructions, seconds = {}, {}
    for way in ways:
        without = run(machine, kernel, way, model, ":", 0)
        for program, command in programs.items():
            repetitions = first_repetitions
            ran = run(machine, kernel, way, model, command, repetitions)
            while ran.seconds < without.seconds + LEAST_SECONDS:
                repetitions *= 4
                ran = run(machine, kernel, way, model, command, repetitions)
            seconds[way.name, program] = (ran.seconds - without.seconds) / repetitions
            if way.plain:
                instructions[program] = (ran.guest_seconds - without.guest_seconds) * 1e9 / repetitions
            print(f"{model}, {way.name}, {program}: {seconds[way.name, program]:.3f} s of {repetitions}", file=sys.stderr, flush=True)
    return instructions, seconds


def speeds(machine, kernel, model, programs, ways, options):
    """Millions of instructions per second, by way and program."""
    raced = [race(machine, kernel, model, programs, ways, options.repetitions) for _ in range(options.rounds)]
    return {(way, program): raced[0][0][program] / min(seconds[way, program] for _, seconds in raced) / 1e6
            for way, program in raced[0][1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", nargs="?", default="build/machine")
    parser.add_argument("--model", action="append")
    parser.add_argument("--kernel")
    parser.add_argument("--program", action="append", choices=PROGRAMS)
    parser.add_argument("--way", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=4)
    options = parser.parse_args()
    machine, models = pathlib.Path(options.machine).resolve(), options.model or ["skylake"]
    if not (machine / "pmusim-machine-emulator").exists():
        sys.exit(f"race_machine.py: there is no machine in {machine}; 'machine/pmusim-machine build' makes it")
    kernel = pathlib.Path(options.kernel or machine / "kernel/bzImage").resolve()
    programs = {name: PROGRAMS[name] for name in options.program or PROGRAMS}
    ways = [way for way in WAYS if way.plain or not options.way or any(words in way.name for words in options.way)]
    columns = [(model, program) for model in models for program in programs]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare(machine)
        raced = {model: speeds(machine, kernel, model, programs, ways, options) for model in models}
    print("| M/s | " + " | ".join(f"{program}, `{model}`" for model, program in columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for way in ways:
        print(f"| {way.name} | " + " | ".join(f"{raced[model][way.name, program]:.0f}" for model, program in columns) + " |")


if __name__ == "__main__":
    main()

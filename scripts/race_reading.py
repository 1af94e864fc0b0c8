#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads profiles beside perf, and imports other tools' traces.

    scripts/race_reading.py [PMUSIM] [--program COMMAND] [--samples N] [--rounds N]

Records COMMAND (default: the example program branches, 70 million instructions), makes a profile of N samples (default
10 million) and one of a tenth of that with branch stacks, and shows them by report, script and annotate of pmusim and of perf.
Then imports the program from ChampSim's format and from Intel PT. All take turns; a figure is the least CPU time of the
rounds (default 3). Needs the packages time and linux-perf.
"""
import argparse
import os
import shutil
import tempfile

from race_peers import Program, least, record, run

VIEWS = {
    "report": (["report"], ["report", "--stdio"]),
    "script": (["script"], ["script"]),
    "annotate": (["annotate"], ["annotate", "--stdio"]),
}


def profile(pmusim, name, instructions, samples, *options):
    period = max(1, instructions // samples)
    run([pmusim, "record", "-q", "--core", "flat", "-e", "instructions:u", "-c", str(period), *options, "-o", name, "T"])
    return instructions // period


def race_profiles(pmusim, instructions, options):
    print("| Samples | | pmusim | perf | perf / pmusim | MB | MB of perf |\n|---|---|---:|---:|---:|---:|---:|")
    for name, samples, flags in (("plain", options.samples, []), ("with branch stacks", options.samples // 10, ["-b"])):
        count = profile(pmusim, "profile", instructions, samples, *flags)
        for view, (ours, perfs) in VIEWS.items():
            here, there = least([([pmusim, *ours, "-i", "profile"], None), (["perf", *perfs, "-i", "profile"], None)],
                                options.rounds)
            print(f"| {count / 1e6:.1f} M, {name} | `{view}` | {here.seconds:.2f} s | {there.seconds:.2f} s | "
                  f"{there.seconds / here.seconds:.1f} | {here.megabytes:.0f} | {there.megabytes:.0f} |", flush=True)
    os.remove("profile")


def race_imports(pmusim, instructions, rounds):
    print("\n| Imported from | Instructions | M/s | MB |\n|---|---:|---:|---:|")
    for form in ("champsim", "pt"):
        run([pmusim, "trace", "export", "-f", form, "-o", form, "T"])
        once = least([([pmusim, "trace", "import", "-f", form, "-o", "imported", form], None)], rounds)[0]
        print(f"| `{form}` | {instructions / 1e6:.1f} M | {instructions / once.seconds / 1e6:.1f} | {once.megabytes:.0f} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pmusim", nargs="?", default="build/release/bin/pmusim")
    parser.add_argument("--program", default=os.path.abspath("build/release/workloads/branches") + " 1000000")
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    pmusim = os.path.realpath(shutil.which(options.pmusim) or options.pmusim)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        instructions = record(pmusim, Program("", options.program.split(), None), "T")
        race_profiles(pmusim, instructions, options)
        race_imports(pmusim, instructions, options.rounds)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the timing model against measured cycles of blocks of real programs.

    scripts/compare_measured_blocks.py FILE... [--program FILE] [--set NAME=VALUE]... [--show N] [--rows]
    scripts/compare_measured_blocks.py FILE... --without

A file has a line for each block, cycles and code bytes in hexadecimal, and is named after its core:
skylake-bhive.txt (BHive publishes such rows). Prints for each file the mean relative error, the share of blocks
within 15 %, and the rank correlations of Spearman and Kendall. --set changes a number of the core (CoreParameters
has their names); --without switches each mechanism off by itself and says what that does to each file's error; --show
prints the N worst blocks, --rows all of them. Needs tests/measured_blocks of a build, which executes the blocks.
"""
import argparse
import pathlib
import subprocess
import sys

top = pathlib.Path(__file__).resolve().parent.parent

# What switches a mechanism off.
SWITCHES = [(name, [name + "=0"]) for name in (
    "predecode_instructions", "last_decoder_leaves_pairs", "pop_r12_decoding", "stack_sync_uops", "move_slots",
    "merges_partial_registers",
    "high_byte_merge_uops", "waits_for_old_destination", "splits_indexed_operands", "splits_constants_at_rip",
    "slow_address_cycles", "l1d_bank_bytes", "one_physical_page")]
SWITCHES.append(("all of these", [setting for _, settings in SWITCHES for setting in settings]))


def rows_of(path):
    rows = [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [(float(cycles), code) for cycles, code in rows]


def model_cycles(args, model, rows, settings):
    """The model's cycles of each row, or None where the core has no such number."""
    lines = "".join(" ".join([model, args.code, code, *settings]) + "\n" for _, code in rows)
    done = subprocess.run([args.program, *args.addresses], input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        if settings:
            return None
        sys.exit(f"{args.program}: {done.stderr.strip()}")
    return [float(word) for word in done.stdout.split()]


def ranks(values):
    ordered = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    at = 0
    while at < len(ordered):
        end = at
        while end < len(ordered) and values[ordered[end]] == values[ordered[at]]:
            end += 1
        for n in ordered[at:end]:
            result[n] = (at + end - 1) / 2
        at = end
    return result


def pearson(a, b):
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    both = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    spread = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    return both / spread ** 0.5 if spread else 0.0


def kendall(a, b):
    """Tau-b: ties count for neither side."""
    agreed = tied_a = tied_b = 0
    pairs = len(a) * (len(a) - 1) // 2
    for i in range(len(a)):
        for j in range(i):
            x, y = a[i] - a[j], b[i] - b[j]
            tied_a += x == 0
            tied_b += y == 0
            agreed += (x * y > 0) - (x * y < 0)
    return agreed / ((pairs - tied_a) * (pairs - tied_b)) ** 0.5


class Figures:
    def __init__(self, rows, ours):
        self.pairs = [(mine, cycles, code) for (cycles, code), mine in zip(rows, ours) if mine > 0 and cycles > 0]
        errors = [abs(mine - cycles) / cycles for mine, cycles, _ in self.pairs]
        self.count = len(errors)
        self.error = 100 * sum(errors) / self.count
        self.near = 100 * sum(e <= 0.15 for e in errors) / self.count

    def ranks(self):
        mine, measured = [p[0] for p in self.pairs], [p[1] for p in self.pairs]
        return pearson(ranks(mine), ranks(measured)), kendall(mine, measured)


def compare(path, args):
    rows = rows_of(path)
    model = args.model or path.stem.split("-")[0]
    figures = Figures(rows, model_cycles(args, model, rows, args.set))
    spearman, tau = figures.ranks()
    print(f"{path.stem:22} {figures.count:5} blocks  error {figures.error:5.2f} %  within 15 % {figures.near:5.1f} %"
          f"  Spearman {spearman:.3f}  Kendall {tau:.3f}")
    worst = sorted(figures.pairs, key=lambda p: -abs(p[0] - p[1]) / p[1])
    for mine, cycles, code in (worst if args.rows else worst[:args.show]):
        print(f"    {mine:8.2f} {cycles:8.2f}  {code}")


def compare_without(path, args):
    rows = rows_of(path)
    model = path.stem.split("-")[0]
    whole = Figures(rows, model_cycles(args, model, rows, []))
    print(f"{path.stem}: error {whole.error:.2f} %, within 15 % {whole.near:.1f} %")
    for name, settings in SWITCHES:
        ours = model_cycles(args, model, rows, settings)
        if ours is None:
            continue
        without = Figures(rows, ours)
        changed = sum(abs(a[0] - b[0]) > 0.01 for a, b in zip(whole.pairs, without.pairs))
        print(f"    without {name:34} error {without.error:6.2f} %  within 15 % {without.near:5.1f} %"
              f"  blocks changed {changed:4}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--program", default=str(top / "build/release/tests/measured_blocks"))
    parser.add_argument("--addresses", action="append", default=[], metavar="FILE",
                        help="keeps where the blocks' accesses go, which takes longest to find")
    parser.add_argument("--code", choices=["decoded", "cached"], default="decoded",
                        help="whether the code misses the uop cache (as BHive's does) or is in it")
    parser.add_argument("--model", help="the core, where the file is not named after it")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--without", action="store_true", help="each mechanism off by itself")
    parser.add_argument("--show", type=int, default=0, metavar="N")
    parser.add_argument("--rows", action="store_true")
    args = parser.parse_args()
    for path in args.files:
        (compare_without if args.without else compare)(path, args)


if __name__ == "__main__":
    sys.exit(main())

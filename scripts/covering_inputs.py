#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of the inputs of a fuzzer, the few that together reach most of the code.

    scripts/covering_inputs.py CONTROL_FILE COUNT BYTES

CONTROL_FILE is what a libFuzzer wrote with -merge=1 -merge_control_file=CONTROL_FILE: which edges each input reaches.
Prints at most COUNT paths, of inputs of at most BYTES: first the input that reaches most edges, then always the one that
adds most to those before it, of equal ones the smallest.
"""
import os
import sys


def edges_by_input(control_file):
    with open(control_file, encoding="utf-8") as lines:
        count = int(next(lines))
        next(lines)  # how many of them were there before
        paths = [next(lines).rstrip("\n") for _ in range(count)]
        edges = {}
        for line in lines:
            word, number, *reached = line.split()
            if word == "COV":
                edges[paths[int(number)]] = set(reached)
    return edges


def covering(edges, count, most_bytes):
    edges = {path: own for path, own in edges.items() if os.path.getsize(path) <= most_bytes}
    reached = set()
    for _ in range(count):
        best = min(edges, key=lambda path: (-len(edges[path] - reached), os.path.getsize(path), path), default=None)
        if best is None or edges[best] <= reached:
            return
        reached |= edges[best]
        yield best


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    for chosen in covering(edges_by_input(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])):
        print(chosen)

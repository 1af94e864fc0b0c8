#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Orders lines by the source that each begins with, those changed last first: what has a time limit begins where a fault is
likeliest.

    git ls-files '*.cpp' | scripts/newest_first.py

A source counts as changed when it or a header that it names itself changed, by the last 1,000 commits and the files
that are not committed. Those of the same age stay in their order; a line that begins with no file counts as oldest.
"""
import re
import subprocess
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent


def git(*arguments):
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout


def ages():
    """Of each file how many commits ago it changed, 0 for one that is not committed."""
    age = {}
    for line in git("status", "--porcelain").splitlines():
        age.setdefault(line[3:].split(" -> ")[-1], 0)
    commits = 0
    for line in git("log", "-n", "1000", "--format=%x00", "--name-only").splitlines():
        if line == "\0":
            commits += 1
        elif line:
            age.setdefault(line, commits)
    return age


def headers(source):
    """Where headers that a source names may lie."""
    if not (root / source).is_file():
        return
    for name in re.findall(r'^#include "([^"]+)"', (root / source).read_text(errors="replace"), re.M):
        yield from (name, f"src/{name}", f"include/{name}", str(Path(source).parent / name))


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    age = ages()
    oldest = 1 << 30

    def newest(line):
        source = line.split()[0]
        return min(age.get(name, oldest) for name in (source, *headers(source)))

    for line in sorted((line for line in sys.stdin.read().split("\n") if line.strip()), key=newest):
        print(line)


main()

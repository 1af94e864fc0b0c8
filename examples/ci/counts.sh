#!/bin/sh
# SPDX-License-Identifier: MIT
# Counts what a program does on an emulated CPU, and fails where it does more than it did:
#
#   counts.sh BASELINE PROGRAM [ARGUMENT...]     BASELINE: a file in your repository; made where there is none
#
# The counts do not depend on the load, the clock or the processor of the machine, but for code that libraries choose by
# the processor: the tunables below leave out what not every x86-64 server has.
set -eu
baseline=$1
shift
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-ERMS,-FSRM
allowed=2  # per cent more than the baseline

counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
pmusim stat --json --model icelake -e instructions:u,branches:u,branch-misses:u -o "$counts" -- "$@"
if [ ! -e "$baseline" ]; then
  cp "$counts" "$baseline"
  echo "made $baseline: add it to the repository"
  exit 0
fi
python3 - "$baseline" "$counts" "$allowed" <<'PYTHON'
import json, sys

def events(path):
    with open(path) as file:
        return {event["event"]: event["value"] for event in json.load(file)["events"]}

before, now, allowed = events(sys.argv[1]), events(sys.argv[2]), float(sys.argv[3])
worse = [name for name in before if now[name] > before[name] * (1 + allowed / 100)]
for name in before:
    print(f"{name:20} {before[name]:>15,} {now[name]:>15,} {100 * (now[name] / before[name] - 1):+8.2f} %")
sys.exit(f"more than {allowed:g} % more: {', '.join(worse)}" if worse else 0)
PYTHON

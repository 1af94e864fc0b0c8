#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From a fresh clone to a profile: installs what is missing, builds pmusim, records every instruction of one of the
# example programs, replays it on an emulated Ice Lake and lets perf show the result.
set -euo pipefail
cd "$(dirname "$0")/.."
step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }

step "1/5  Packages"
scripts/packages.sh quickstart

step "2/5  Build (one and a half to three minutes on two cores the first time)"
cmake --preset release -DPMUSIM_TESTS=OFF -DPMUSIM_BENCHMARKS=OFF >/dev/null
cmake --build --preset release --target pmusim workload_branches
out=build/quickstart
mkdir -p "$out"
export PATH="$PWD/build/release/bin:$PATH"
workload=build/release/workloads/branches

step "3/5  Record $workload, every instruction of it (this machine needs no PMU)"
run pmusim trace record -o "$out/branches.pmutrace" -- "$workload" 10000

step "4/5  Replay it on an emulated Ice Lake: count, then sample"
run pmusim stat -e instructions,branches,branch-misses,cycles "$out/branches.pmutrace"
run pmusim record -e cycles:upp -c 4001 -b -o "$out/perf.data" "$out/branches.pmutrace"

step "5/5  What perf makes of the profile"
run perf report -i "$out/perf.data" --stdio --no-branch-stack --percent-limit 1 2>/dev/null | grep -vE '^$|^# \(Tip'
echo
echo "The profile is $out/perf.data. Try:"
echo "  perf annotate -i $out/perf.data --stdio branches"
echo "  perf script   -i $out/perf.data -F ip,sym,brstack | less"

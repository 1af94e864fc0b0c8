#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs the benchmarks and writes docs/benchmarks.md:
#
#   bench/run.sh [BUILD [NAME...]]
#
# BUILD is the folder of a release build with PMUSIM_BENCHMARKS (default build/release). With NAMEs (driver_drain) the page
# gets their figures and loses the others'. REPETITIONS (default 5) and SECONDS_EACH (default 0.05) say how long.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build/release}
[ $# -gt 0 ] && shift
if [ $# -eq 0 ]; then
  set -- $(cd "$top/bench" && ls *_*.cpp | sed 's/\.cpp$//')
fi
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
for name in "$@"; do
  if [ ! -x "$build/bench_$name" ]; then
    echo "bench/run.sh: $build/bench_$name is not there: build with -DPMUSIM_BENCHMARKS=ON" >&2
    exit 2
  fi
  # One size of buffers is enough to compare; the others are for who works on it.
  filter=.
  [ "$name" = driver_demux ] && filter='events:4/.*KiB:64/'
  echo "bench_$name" >&2
  # Rows of a program take turns, so that what else the machine does meets all of them.
  "$build/bench_$name" --benchmark_format=json --benchmark_filter="$filter|yardstick" \
    --benchmark_repetitions="${REPETITIONS:-5}" --benchmark_min_time="${SECONDS_EACH:-0.05}" \
    --benchmark_enable_random_interleaving=true > "$results/$name.json"
done
python3 "$top/bench/page.py" "$top/docs/benchmarks.md" "$results" "$@"

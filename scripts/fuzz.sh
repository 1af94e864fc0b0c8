#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds the fuzzers and runs them: one, or all of them side by side.
#
#   scripts/fuzz.sh [TARGET [SECONDS]]     TARGET of tests/MODULE/TARGET_fuzz.cpp as MODULE_TARGET, or all (default);
#                                          SECONDS for each of them (default 60)
#
# The same numbers come up in every run; set SEED=0 for others. STATS=FILE takes a line for each: target, seconds, executions,
# edges covered, ok or failed. What a fuzzer learns is kept in
# build/fuzz/corpus/TARGET, an input that it does not survive in build/fuzz/found/, to be tried again with
# build/asan/fuzzers/fuzz_TARGET FILE.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${1:-all}" seconds="${2:-60}"
case "$target" in -*) sed -n '3,12s/^# \?//p' "$0" >&2; exit 2 ;; esac

scripts/packages.sh ci
cmake --preset asan -DPMUSIM_BENCHMARKS=OFF >/dev/null
if [ "$target" = all ]; then
  cmake --build --preset asan --target fuzzers
  targets=$(cd build/asan/fuzzers && ls -d fuzz_* | sed 's/^fuzz_//')
else
  cmake --build --preset asan --target "fuzz_$target" fuzz_seeds
  targets=$target
fi

rm -rf build/fuzz/seeds
mkdir -p build/fuzz/{corpus,found,logs,seeds,tmp}
export TMPDIR="$PWD/build/fuzz/tmp"
build/asan/fuzz_seeds build/fuzz/seeds
mkdir -p build/fuzz/seeds/{scenario_text,symbols_jit_map,symbols_module}
printf '1000 100 loop\n2000 80 _ZN3jit4leafEv\n2040 10 within\n' >build/fuzz/seeds/symbols_jit_map/map
cp tests/scenarios/*.pmu build/fuzz/seeds/scenario_text/
printf 'static inline int twice(int x) { return x + x; }\nint main(int n, char** v) { return twice(n) + !v; }\n' |
  cc -g -fdebug-prefix-map="$PWD"=. -O1 -nostdlib -static -Wl,-e,main,--build-id -x c -o build/fuzz/seeds/symbols_module/elf -

# Of the other tools' traces, packed ones, too: the first byte is the number of the format.
for pack in gzip xz zstd; do
  { head -c 1 build/fuzz/seeds/formats_import/champsim
    tail -c +2 build/fuzz/seeds/formats_import/champsim | "$pack" -c; } >"build/fuzz/seeds/formats_import/champsim.$pack"
done

# What earlier runs found and is kept in the tree is replayed first.
for kept in tests/corpus/*/; do
  [ -d "$kept" ] || continue
  mkdir -p "build/fuzz/seeds/$(basename "$kept")"
  cp "$kept"* "build/fuzz/seeds/$(basename "$kept")/"
done

# Leaks and sizes out of proportion are failures as well.
fuzz() {
  local log="build/fuzz/logs/$1" result=failed
  mkdir -p "build/fuzz/corpus/$1" "build/fuzz/seeds/$1"
  "build/asan/fuzzers/fuzz_$1" -seed="${SEED:-1}" -max_total_time="$2" -timeout=10 \
    -rss_limit_mb=1024 -malloc_limit_mb=256 -entropic=0 -print_final_stats=1 -artifact_prefix="build/fuzz/found/$1-" \
    "build/fuzz/corpus/$1" "build/fuzz/seeds/$1" >"$log" 2>&1 && result=ok
  if [ -n "${STATS:-}" ]; then
    local executions coverage
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "${executions:-0}" "${coverage:-0}" "$result" >>"$STATS"
  fi
  if [ $result = ok ]; then
    printf '%-28s %8s runs/s\n' "$1" "$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")"
  else
    printf '%s: failed, see %s\n' "$1" "$log"
    tail -n 40 "$log"
    return 1
  fi
}
export -f fuzz
printf '%s\n' $targets | xargs -P "$(nproc)" -I TARGET bash -c 'fuzz TARGET "$0"' "$seconds"

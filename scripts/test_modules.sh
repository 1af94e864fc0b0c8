#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the test programs of a build as wholes, some tests of one after the other in a process. That takes half as long as
# ctest, which starts a process for each test: many take less than that, and tests of a process share what they prepare.
#
#   scripts/test_modules.sh FOLDER [-MODULE...]     FOLDER of a build: all programs test_* but these
#   scripts/test_modules.sh FOLDER MODULE...        those
set -euo pipefail
case "${1:-}" in ''|-*) sed -n '3,7s/^# \?//p' "$0" >&2; exit 2 ;; esac
cd "$1"
shift
export logs=$PWD/Testing/modules times=$PWD/Testing/module_times
rm -rf "$logs"
mkdir -p "$logs"
: >"$times"
left_out=(! -name 'test_capi_*')
while [[ "${1:-}" = -* ]]; do
  left_out+=(! -name "test_${1#-}")
  shift
done
if [ $# -eq 0 ]; then
  # Large programs first: they hold the modules with long tests.
  mapfile -t programs < <(find . tests -maxdepth 1 -name 'test_*' -type f -executable "${left_out[@]}" \
    -printf '%s %p\n' | sort -nr | cut -d ' ' -f 2-)
else
  for module in "$@"; do programs+=("$(find . tests -maxdepth 1 -name "test_$module" -type f)"); done
fi
# PROGRAM NUMBER FILTER of each process: suites with some twenty tests in all, or more. A suite stays together, as its tests
# share what they prepare; the largest ones are dealt out first, each to who has the fewest tests.
processes() {
  local program
  for program in "${programs[@]}"; do
    "$program" --gtest_list_tests | sed 's/ *#.*//' | awk -v program="$program" -v most=$((4 * $(nproc))) '
      /^[^ ]/ { suite = $1; if (!(suite in tests)) suites[++count] = suite }
      /^  / { ++tests[suite]; ++all }
      END {
        shards = int(all / 20) + 1
        if (shards > most) shards = most
        for (left = count; left > 0; --left) {
          largest = 0
          for (n = 1; n <= count; ++n)
            if (!(suites[n] in dealt) && (!largest || tests[suites[n]] > tests[suites[largest]])) largest = n
          fewest = 1
          for (shard = 2; shard <= shards; ++shard) if (has[shard] + 0 < has[fewest] + 0) fewest = shard
          dealt[suites[largest]]
          has[fewest] += tests[suites[largest]]
          filter[fewest] = filter[fewest] (filter[fewest] ? ":" : "") suites[largest] "*"
        }
        for (shard = 1; shard <= shards; ++shard) if (filter[shard]) print program, shard, filter[shard]
      }'
  done
}
run() {
  local log status=0 begun=$SECONDS
  log=$logs/$(basename "$1").$2
  GTEST_FILTER=$3 timeout 1800 "$1" --gtest_brief=1 >"$log" 2>&1 || status=$?
  printf '%6d s  %s, part %d\n' $((SECONDS - begun)) "$(basename "$1")" "$2" >>"$times"
  if ((status == 0)); then return; fi
  printf '\n%s, GTEST_FILTER=%s:\n' "$1" "$3"
  cat "$log"
  grep -q '^\[==========\].* ran\.' "$log" || echo '[==========] 1 test ended before its end' >>"$log"
  return 1
}
export -f run
status=0
# One more than there are processors, as many tests wait for programs that they start.
processes | xargs -P "$(($(nproc) + 1))" -L 1 bash -c 'run "$@"' run || status=1
echo 'The longest:'
sort -rn "$times" | sed -n 1,5p
# A process that did not get to its end counts as one test that failed.
cat "$logs"/* | awk -v status=$status '
  /^\[==========\] [0-9]+ tests? from .* ran\./ { all += $2 }
  /^\[  PASSED  \]/ { passed += $4 }
  /^\[  SKIPPED \] [0-9]+ test/ { passed += $4 }
  /^\[==========\] 1 test ended before its end/ { ++all }
  END { failed = all - passed
    printf "%d%% tests passed, %d tests failed out of %d\n", all ? 100 * passed / all : 0, failed, all
    exit status || failed || !all }'

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
# PROGRAM SHARD SHARDS of each process: some twenty tests in one, or more, as tests of a process share what they prepare.
processes() {
  local program tests shards shard most=$((2 * $(nproc)))
  for program in "${programs[@]}"; do
    tests=$("$program" --gtest_list_tests | grep -c '^  ')
    shards=$((tests / 20 + 1 < most ? tests / 20 + 1 : most))
    for ((shard = 0; shard < shards; shard++)); do printf '%s %d %d\n' "$program" "$shard" "$shards"; done
  done
}
run() {
  local log status=0 begun=$SECONDS
  log=$logs/$(basename "$1").$2
  GTEST_TOTAL_SHARDS=$3 GTEST_SHARD_INDEX=$2 timeout 1800 "$1" --gtest_brief=1 >"$log" 2>&1 || status=$?
  printf '%6d s  %s, %d of %d\n' $((SECONDS - begun)) "$(basename "$1")" $(($2 + 1)) "$3" >>"$times"
  if ((status == 0)); then return; fi
  printf '\n%s, GTEST_SHARD_INDEX=%d GTEST_TOTAL_SHARDS=%d:\n' "$1" "$2" "$3"
  cat "$log"
  grep -q '^\[==========\].* ran\.' "$log" || echo '[==========] 1 test ended before its end' >>"$log"
  return 1
}
export -f run
status=0
# One more than there are processors, as many tests wait for programs that they start.
processes | xargs -P "$(($(nproc) + 1))" -L 1 bash -c 'run "$@"' run || status=1
echo 'The longest:'
sort -rn "$times" | head -5
# A process that did not get to its end counts as one test that failed.
cat "$logs"/* | awk -v status=$status '
  /^\[==========\] [0-9]+ tests? from .* ran\./ { all += $2 }
  /^\[  PASSED  \]/ { passed += $4 }
  /^\[  SKIPPED \] [0-9]+ test/ { passed += $4 }
  /^\[==========\] 1 test ended before its end/ { ++all }
  END { failed = all - passed
    printf "%d%% tests passed, %d tests failed out of %d\n", all ? 100 * passed / all : 0, failed, all
    exit status || failed || !all }'

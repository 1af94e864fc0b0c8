#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Endurance: fuzzers, replays under sanitizers and the two drivers side by side, for hours, in parts if need be.
#
#   scripts/soak.sh HOURS      goes on where the last run ended, until HOURS more have passed
#   scripts/soak.sh --boots N [FIRST]   the machine alone: N boots from number FIRST on
#   scripts/soak.sh --report   what all runs together did, as in build/soak/report.md
#   scripts/soak.sh --keep     takes into tests/corpus what fuzzers found and is small; tests replay it
#
# A round is every fuzzer for ROUND seconds (default 120) with numbers of its own, then a replay of every run of
# scripts/determinism_runs.txt under AddressSanitizer with UndefinedBehaviorSanitizer and under ThreadSanitizer, which have
# to give the same bytes, then every writer, and every command that starts a program, killed at KILLS times as many moments as in CI (default 8), drawn anew,
# and all tests of hostile content, then, where Debian's kernel source can be installed, both drivers over all set-ups on a program with
# other random branches in each round, then, where machine/pmusim-machine has been built, BOOTS boots of it (default 20), models in turn. It builds what
# else it needs. Each leaves a line in build/soak/rounds.tsv: date, commit, what,
# seconds, executions, coverage (edges), ok or failed.
set -euo pipefail
cd "$(dirname "$0")/.."
state=$PWD/build/soak rounds=$PWD/build/soak/rounds.tsv
mkdir -p "$state"
touch "$rounds"

report() {
  printf '# Endurance\n\n'
  awk -F'\t' '
    NR == 1 { first = $1 } { last = $1; if (!($2 in commits)) { commits[$2]; listed = listed " " $2 } }
    { what = $3; if (!(what in seconds)) order[++n] = what
      seconds[what] += $4; runs[what] += $5; if ($6 > coverage[what]) coverage[what] = $6
      failed[what] += $7 != "ok"; total += $4; executions += $5 }
    END { if (!NR) { print "Nothing ran yet."; exit }
      printf "%s to %s, %.2f hours of work, %d executions; commits%s.\n\n", first, last, total / 3600, executions, listed
      print "| What | Hours | Executions | Coverage, edges | Failures |\n|---|---|---|---|---|"
      for (i = 1; i <= n; i++) { w = order[i]
        printf "| %s | %.2f | %d | %s | %d |\n", w, seconds[w] / 3600, runs[w], coverage[w] ? coverage[w] : "-", failed[w] } }' "$rounds"
}

line() { printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$(git rev-parse --short HEAD)" "$@" >>"$rounds"; }

# A command as a line of the report: NAME EXECUTIONS COMMAND...
timed() {
  local name=$1 executions=$2 begin=$SECONDS result=ok
  shift 2
  "$@" >"$state/$name.log" 2>&1 || { result=failed; cat "$state/$name.log" >>"$state/$name.failures.log"; printf '%s failed, see build/soak/%s.failures.log\n' "$name" "$name"; }
  line "$name" $((SECONDS - begin)) "$executions" '' "$result"
}

fuzzers() {
  local stats=$state/fuzz.tsv
  : >"$stats"
  SEED=$1 STATS=$stats scripts/fuzz.sh all "${ROUND:-120}" || true
  while IFS=$'\t' read -r what seconds executions coverage result; do
    line "fuzz_$what" "$seconds" "$executions" "$coverage" "$result"
  done <"$stats"
}

replays() {
  local runs preset
  runs=$(grep -vc '^#' scripts/determinism_runs.txt)
  for preset in asan tsan; do
    cmake --preset "$preset" -DPMUSIM_BENCHMARKS=OFF >/dev/null
    cmake --build --preset "$preset" --target pmusim
  done
  timed replays_under_sanitizers $((2 * runs)) scripts/determinism.sh build/asan/bin/pmusim build/tsan/bin/pmusim
}

nothing_lost() {
  cmake --preset release -DPMUSIM_TESTS=ON -DPMUSIM_BENCHMARKS=OFF >/dev/null
  cmake --build --preset release --target test_end_to_end test_live
  local times=${KILLS:-8}
  timed killed_writers $((times * 13 * 17)) env PMUSIM_KILLS="$times" PMUSIM_SEED="$1" \
    build/release/tests/test_end_to_end --gtest_filter='Of/Writers.*:KilledSweep.*'
  timed killed_programs $((times * 12 * 6)) env PMUSIM_KILLS="$times" PMUSIM_SEED="$1" \
    build/release/test_live --gtest_filter='Of/Killed.*'
  timed hostile_content 1 build/release/tests/test_end_to_end --gtest_filter='Hostile*:By/Interrupted.*:*PartialCounts.*'
}

drivers() {
  local build=${PMUSIM_LINUX_BUILD:-build/linux}
  scripts/packages.sh kernel || { echo "the two drivers are left out: the kernel's source cannot be installed"; return 0; }
  linux/pmusim-linux build
  cc -O0 -g -fcf-protection=none -fno-pie -no-pie -o "$state/branches" examples/workloads/branches.c
  "$build/bin/pmusim" trace record --step --regs gpr -o "$state/program.pmutrace" "$state/branches" 27 "$1" >/dev/null
  timed two_drivers 1 "$build/bin/pmusim-linux" compare -q --core-mhz 20 "$state/program.pmutrace"
}

boots() {
  local number=${BOOTS:-20}
  [ -x "${PMUSIM_MACHINE_BUILD:-build/machine}/pmusim-machine" ] || return 0
  timed machine_boots "$number" machine/tests/run.sh boots "$number" $((($1 - 1) * number))
}

# In parts of 20, so that what was done counts if the rest is not.
boots_alone() {
  local first=${2:-0} end=$(($1 + ${2:-0})) number
  for ((; first < end; first += number)); do
    number=$((end - first < 20 ? end - first : 20))
    timed machine_boots "$number" machine/tests/run.sh boots "$number" "$first"
  done
}

keep() {
  local target control=$state/merge.control
  for target in $(cd build/fuzz/corpus && ls); do
    mkdir -p "tests/corpus/$target"
    rm -rf "$state/merged" "$control" && mkdir -p "$state/merged"
    # Those in the tree are inputs as all others, whatever reaches more for its size.
    "build/asan/fuzzers/fuzz_$target" -set_cover_merge=1 -merge_control_file="$control" "$state/merged" \
      "tests/corpus/$target" "build/fuzz/corpus/$target" >/dev/null 2>&1
    rm -rf "$state/kept" && mkdir -p "$state/kept"
    scripts/covering_inputs.py "$control" "${KEEP:-40}" 16384 | xargs -I FILE cp FILE "$state/kept/"
    rm -f "tests/corpus/$target"/*
    cp "$state/kept"/* "tests/corpus/$target/"
  done
  du -sh --apparent-size tests/corpus
}

case "${1:-}" in
  --report) report; exit ;;
  --keep) keep; exit ;;
  --boots) boots_alone "${2:?--boots needs a number}" "${3:-0}"; exit ;;
  ''|*[!0-9.]*) sed -n '3,17s/^# \?//p' "$0" >&2; exit 2 ;;
esac
end=$(awk -v hours="$1" 'BEGIN {printf "%d", hours * 3600}')
while ((SECONDS < end)); do
  round=$(($(cut -f 3 "$rounds" | sort | uniq -c | sort -nr | awk 'NR == 1 {print $1}') + 1))
  fuzzers "$round"
  ((SECONDS < end)) && replays
  ((SECONDS < end)) && nothing_lost "$round"
  ((SECONDS < end)) && drivers "$round"
  ((SECONDS < end)) && boots "$round"
  report >"$state/report.md"
done
cat "$state/report.md"
awk -F'\t' '$7 != "ok" {bad = 1} END {exit bad}' "$rounds"

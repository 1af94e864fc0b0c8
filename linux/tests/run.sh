#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests of pmusim-linux:
#
#   run.sh boot PROGRAM                    every model boots
#   run.sh record PROGRAM TRACE            perf reads what the kernel's driver sampled
#   run.sh log PROGRAM TRACE               accesses have the kernel's functions
#   run.sh compare PROGRAM TRACE MODEL...  the drivers agree but for what is known
#   run.sh planted PROGRAM TRACE MODEL SETUP KIND   they do not
#   run.sh explore PROGRAM MODEL...        a PMI at every place breaks nothing, but for what docs/linux-driver.md tells
set -euo pipefail
what=$1 program=$2
fail() { echo "$*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
models() { for model in "$@"; do printf -- '--model %s ' "$model"; done; }

case "$what" in
  boot)
    "$program" boot >"$scratch/boot" || fail "a model does not boot: $(cat "$scratch/boot")"
    grep -q '^skylake .*4+3 counters of 48 bits.*LBR 32, PEBS format 3' "$scratch/boot" || fail "$(cat "$scratch/boot")"
    grep -q '^goldencove .*arch LBR 32, PEBS format 4' "$scratch/boot" || fail "$(cat "$scratch/boot")"
    ! grep -qE 'WARN|BUG|refused' "$scratch/boot" || fail "$(cat "$scratch/boot")" ;;
  record)
    "$program" record -e branches:u -c 1009 -b --model skylake -o "$scratch/perf.data" "$3"
    perf report -i "$scratch/perf.data" --stdio --sort sym >"$scratch/report" 2>"$scratch/errors" || fail "$(cat "$scratch/errors")"
    grep -qE '[0-9]+\.[0-9]+%' "$scratch/report" || fail "perf reports nothing: $(cat "$scratch/report")" ;;
  log)
    "$program" record -e branches:u -c 1009 --model skylake -o "$scratch/perf.data" --msr-log "$scratch/log" "$3"
    grep -q 'wrmsr IA32_PERF_GLOBAL_CTRL (38f) = .*intel_pmu' "$scratch/log" || fail "no write of GLOBAL_CTRL by the kernel's driver" ;;
  compare)
    # shellcheck disable=SC2046
    "$program" compare "$3" -q $(models "${@:4}") ;;
  planted)
    status=0
    "$program" compare "$3" -q --model "$4" --setup "$5" >"$scratch/found" || status=$?
    [ "$status" = 1 ] || fail "exit status $status; expected 1: $(cat "$scratch/found")"
    grep -q "^$4 $5 $6: " "$scratch/found" || fail "no difference of $6: $(cat "$scratch/found")" ;;
  explore)
    entries=()
    for entry in enable disable reprogram tick switch enable-precise disable-precise drain switch-precise; do
      entries+=(--entry "$entry")
    done
    "$program" explore "${entries[@]}" "${@:3}"
    ! "$program" explore --entry read "${@:3}" >"$scratch/read" || fail "the race of a read is gone: say so in docs/linux-driver.md"
    grep -q 'seed: overflow@0+1' "$scratch/read" || fail "$(cat "$scratch/read")" ;;
  *) sed -n '3,11s/^# \?//p' "$0" >&2; exit 2 ;;
esac

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests of pmusim-linux:
#
#   run.sh boot PROGRAM HYBRID...          every model boots, and machines of many CPUs; those of these products have two PMUs
#   run.sh record PROGRAM TRACE            perf reads what the kernel's driver sampled
#   run.sh command PROGRAM COMMAND         the same of a program that is no trace yet
#   run.sh log PROGRAM TRACE               accesses have the kernel's functions
#   run.sh throttling PROGRAM TRACE        too many samples are throttled, and come again
#   run.sh hotplug PROGRAM TRACE           the CPU goes, with the events that count there, and comes back
#   run.sh compare PROGRAM TRACE OPTION... the drivers agree but for what is known
#   run.sh planted PROGRAM TRACE MODEL SETUP WORD CHANGE   they do not: the first that differs is a word of the first sample.
#                                          WORD is an arithmetic condition on its number n, CHANGE one on what the kernel
#                                          and this project have there, k and p
#   run.sh bench PROGRAM                   both drains are timed over buffers of every format, and write samples of one size
#   run.sh drain PROGRAM MODEL...          both drains make the same of 50,000 drawn records for each model
#   run.sh bugs PROGRAM TRACE              comparing finds what is planted before the hardware
#   run.sh explore PROGRAM MODEL...        a PMI at every place breaks nothing, but for what docs/linux-driver.md tells
#   run.sh explore_amd PROGRAM             the same of AMD's driver with and without PerfMonV2
#   run.sh newest PROGRAM                  the same of reload groups and single records, and two bugs of Linux 7.3
set -euo pipefail
what=$1 program=$2
fail() { echo "$*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

case "$what" in
  boot)
    "$program" boot >"$scratch/boot" || fail "a model does not boot: $(cat "$scratch/boot")"
    grep -q '^skylake .*4+3 counters of 48 bits.*LBR 32, PEBS format 3' "$scratch/boot" || fail "$(cat "$scratch/boot")"
    grep -q '^goldencove .*arch LBR 32, PEBS format 4' "$scratch/boot" || fail "$(cat "$scratch/boot")"
    "$program" boot naples rome milan genoa turin >"$scratch/amd" || fail "a model does not boot: $(cat "$scratch/amd")"
    grep -q '^naples .*AMD: version 0, 6+0 counters of 48 bits' "$scratch/amd" || fail "$(cat "$scratch/amd")"
    grep -q '^genoa .*AMD: version 2, 6+0 counters of 48 bits.*LBR 16' "$scratch/amd" || fail "$(cat "$scratch/amd")"
    hybrids=("${@:3}")
    "$program" boot "${hybrids[@]/%/:2p2e}" skylake:2c skylake:2c4t haswell:2c haswell:2c4t nehalem:2c4t sapphirerapids:2s4c8t genoa:4c >"$scratch/machines" ||
      fail "a machine does not boot: $(cat "$scratch/machines")"
    for hybrid in "${hybrids[@]}"; do
      grep -qE "^$hybrid:2p2e CPUs 0-1 cpu_core .*attr type 4" "$scratch/machines" || fail "$hybrid has no cpu_core: $(cat "$scratch/machines")"
      grep -qE "^$hybrid:2p2e CPUs 2-3 cpu_atom .*attr type 8" "$scratch/machines" || fail "$hybrid has no cpu_atom: $(cat "$scratch/machines")"
    done
    grep -q '^skylake:2c CPUs 0-1 .*8+3 counters' "$scratch/machines" && grep -q '^skylake:2c4t CPUs 0-3 .*4+3 counters' "$scratch/machines" || fail "$(cat "$scratch/machines")"
    ! grep -qE 'WARN|BUG|refused|faults' "$scratch"/{boot,amd,machines} || fail "$(cat "$scratch"/{boot,amd,machines})" ;;
  record)
    "$program" record -e branches:u -c 1009 -b --model skylake -o "$scratch/perf.data" "$3"
    perf report -i "$scratch/perf.data" --stdio --sort sym >"$scratch/report" 2>"$scratch/errors" || fail "$(cat "$scratch/errors")"
    grep -qE '[0-9]+\.[0-9]+%' "$scratch/report" || fail "perf reports nothing: $(cat "$scratch/report")" ;;
  command)
    TMPDIR=$scratch "$program" record -e branches:u -c 199 --model skylake -o "$scratch/perf.data" -- "$3" >"$scratch/output"
    [ -s "$scratch/output" ] || fail "the program said nothing"
    perf report -i "$scratch/perf.data" --stats >"$scratch/stats" 2>&1
    [ "$(awk '$1 == "SAMPLE" {print $3; exit}' "$scratch/stats")" -gt 50 ] || fail "$(cat "$scratch/stats")"
    ! compgen -G "$scratch/pmusim-linux-*" >/dev/null || fail "the trace made for it is still there" ;;
  log)
    "$program" record -e branches:u -c 1009 --model skylake -o "$scratch/perf.data" --msr-log "$scratch/log" "$3"
    grep -q 'wrmsr IA32_PERF_GLOBAL_CTRL (38f) = .*intel_pmu' "$scratch/log" || fail "no write of GLOBAL_CTRL by the kernel's driver" ;;
  compare)
    "$program" compare "$3" -q "${@:4}" ;;
  throttling)
    "$program" record -e branches:u -c 29 --model skylake -o "$scratch/perf.data" "$3"
    perf report -i "$scratch/perf.data" --stats >"$scratch/stats" 2>&1
    throttled=$(awk '$1 == "THROTTLE" {print $3}' "$scratch/stats") again=$(awk '$1 == "UNTHROTTLE" {print $3}' "$scratch/stats")
    [ "${throttled:-0}" -gt 0 ] && [ "${again:-0}" -gt 0 ] || fail "no throttling: $(cat "$scratch/stats")" ;;
  hotplug)
    record() { "$program" record -e branches:upp -c 211 --model skylake -o "$scratch/perf.data" "$@" 2>&1 | sed -n 's/.*: \([0-9]*\) samples.*/\1/p'; }
    whole=$(record "$3") replugged=$(record --offline-ms 1 --msr-log "$scratch/log" "$3")
    ((replugged > 0 && replugged < whole)) || fail "$replugged samples, and $whole of a CPU that stays: events of a CPU go with it"
    ! grep ' faults ' "$scratch/log" || fail "a CPU goes with a fault"
    areas=$(awk '$3 == "IA32_DS_AREA" {print ($6 == 0 ? "off" : "on")}' "$scratch/log" | uniq | tr '\n' ' ')
    [[ "$areas" == *"on off on "* ]] || fail "the DS area is $areas: a CPU that goes and comes back takes it away and gets it again" ;;
  planted)
    status=0
    "$program" compare "$3" -q --model "$4" --setup "$5" >"$scratch/found" || status=$?
    [ "$status" = 1 ] || fail "exit status $status; expected 1: $(cat "$scratch/found")"
    pattern="^$4 $5 records: record [0-9]+ \\(sample 1\\) word ([0-9]+): the kernel type 9 of ([0-9]+) bytes with (0x[0-9a-f]+), pmusim type 9 of \\2 bytes with (0x[0-9a-f]+)$"
    read -r n k p < <(sed -nE "s/$pattern/\1 \3 \4/p" "$scratch/found") || fail "not the first sample: $(cat "$scratch/found")"
    (($6)) && (($7)) || fail "word $n, $k for $p; expected $6 and $7"
    [ "$(grep -c . "$scratch/found")" = 2 ] || fail "more differs than the samples: $(cat "$scratch/found")" ;;
  drain)
    "$program" drain --records 50000 "${@:3}" ;;
  bench)
    "$program" bench --rounds 2 --json >"$scratch/bench"
    cat "$scratch/bench"
    # An older kernel refuses architectural PEBS, and nothing else.
    (($(grep -c '"kernel_ns"' "$scratch/bench") >= 7)) || fail "fewer than seven rows"
    ! grep '"refused"' "$scratch/bench" | grep -v diamondrapids || fail "refused" ;;
  bugs)
    # Which set-up shows a bug hangs on the program that was recorded.
    "$program" planted "$3" >"$scratch/planted" || true
    cat "$scratch/planted"
    (($(grep -c ': found: ' "$scratch/planted") >= 10)) || fail "fewer than ten planted bugs are found" ;;
  explore)
    entries=()
    for entry in enable disable reprogram tick switch enable-precise disable-precise drain switch-precise; do
      entries+=(--entry "$entry")
    done
    "$program" explore "${entries[@]}" "${@:3}"
    ! "$program" explore --entry read "${@:3}" >"$scratch/read" || fail "the race of a read is gone: say so in docs/linux-driver.md"
    grep -q 'seed: overflow@0+1' "$scratch/read" || fail "$(cat "$scratch/read")" ;;
  explore_amd)
    "$program" explore --entry enable --entry disable --entry reprogram --entry tick --entry switch rome milan genoa turin
    ! "$program" explore --entry read genoa >"$scratch/read" || fail "the race of a read is gone: say so in docs/linux-driver.md"
    grep -q 'seed: overflow@0+1' "$scratch/read" || fail "$(cat "$scratch/read")" ;;
  newest)
    entries=()
    for entry in enable-single switch-single hotplug-precise acr-enable acr-disable acr-reprogram acr-tick acr-switch acr-precise; do
      entries+=(--entry "$entry")
    done
    "$program" explore "${entries[@]}" diamondrapids arcticwolf skymont
    ! "$program" explore --entry acr-counted skymont >"$scratch/found" || fail "reloaded counts are right now: say so in docs/notes"
    grep -q 'an event has counted 28147497671' "$scratch/found" || fail "$(cat "$scratch/found")"
    ! "$program" explore --entry recorded-group diamondrapids >"$scratch/found" || fail "GP 4 and 5 are kept now: say so in docs/notes"
    grep -q '7 periods are over, and 5 have a sample' "$scratch/found" || fail "$(cat "$scratch/found")" ;;
  *) sed -n '3,19s/^# \?//p' "$0" >&2; exit 2 ;;
esac

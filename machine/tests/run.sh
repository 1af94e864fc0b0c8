#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests of the machine that PMUSIM_MACHINE_BUILD names:
#
#   run.sh boot MODEL PATTERN    the kernel's driver finds the model's PMU: a line of its log
#   run.sh count MODEL           counts of a program whose counts are known
#   run.sh precise MODEL SUITE   samples by PEBS on the newest kernel of a release of Debian's, fetched if it is not there
#   run.sh short MODEL           PEBS with periods shorter than a handler: each NMI finds what it is for
#   run.sh record MODEL          perf here reports samples taken there, of the kernel and of a program, by name
#   run.sh trace MODEL           a trace with the kernel replays to the counts that the guest had, and shows processes and code by name
#   run.sh files                 what the command writes comes back, with its exit status and output
#   run.sh same MODEL            the same bytes twice: console, output and samples, by blocks and by instructions
#   run.sh cpus MODEL            two CPUs, each with counters and samples of its own
#   run.sh uncounted             events that this machine cannot count are named, and no others
#   run.sh hostile               programs that hand out what they should not: a sentence each
#   run.sh boots N [FIRST]       N boots from number FIRST (0) on, the models of docs/machine.md in turn, BOOTS_AT_ONCE (2) at a time, each with a
#                                perf stat and BOOT_SECONDS (60) of processor time at most, as a busy machine may take
#                                long, or an hour: the kernel finds the PMU and ends by itself
#   run.sh gdb MODEL             a debugger finds the machine stopped, stops it in the kernel, and lets it go on to its end
#   run.sh hardware MODEL        --hw-log and --hw-timeline: what the driver writes around a program's counts, its PMIs and records, the same twice
#   run.sh ends                  signals, a full disk and a reader that goes: a sentence, and no process is left
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
machine=$here/../pmusim-machine
what=$1 model=${2:-skylake-x}
fail() { echo "$*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch
cd "$scratch"
run() { "$machine" run --timeout 900 --model "$model" --console "$scratch/console" "$@"; }
loop() { gcc -nostdlib -static -o loop "$here/loop.S"; }

# expect EVENT COUNT: what perf stat -x, has counted
expect() {
  local counted
  counted=$(awk -F, -v event="$1" '$3 == event {print $1}' stat)
  [ "$counted" = "$2" ] || fail "$1 is $counted on $model; expected $2: $(cat stat)"
}

case "$what" in
  boot)
    run -- true || fail "$model does not boot"
    grep -qE "$3" console || fail "the kernel finds on $model: $(grep -A1 'Performance Events' console)"
    ! grep -E 'unchecked MSR|WARNING:|Call Trace' console || fail "the kernel complains on $model" ;;
  count)
    loop
    run -- perf stat -x, -o stat -e instructions:u,branches:u ./loop
    expect instructions:u 2000004
    expect branches:u 1000001
    run -- perf stat -x, -o stat -e instructions:u,instructions:k,instructions ./loop
    user=$(awk -F, '$3 == "instructions:u" {print $1}' stat) kernel=$(awk -F, '$3 == "instructions:k" {print $1}' stat)
    expect instructions $((user + kernel)) ;;
  precise)
    kernel=$("$here/../fetch-packages.sh" kernel "$PMUSIM_MACHINE_BUILD/kernel-$3" "$3")
    run --kernel "$kernel" -- perf record -q -e cycles:pp -c 10007 -o perf.data dd if=/dev/zero of=/dev/null bs=4k count=200 2>err || fail "$(cat err)"
    perf report -i perf.data --stats 2>/dev/null | grep -E 'SAMPLE events: +[0-9]{2,}' >/dev/null || fail "few samples: $(grep 'Performance Events' console)" ;;
  short)
    loop
    run --file loop -- perf record -q -e cycles:pp -c 123 -o perf.data ./loop
    perf report -i perf.data --stats 2>/dev/null | grep -E 'SAMPLE events: +[0-9]{3,}' >/dev/null || fail "few samples"
    ! grep 'unknown reason' console || fail "NMIs that the kernel knows no reason of" ;;
  record)
    loop
    run --file loop -- perf record -q -e cycles:pp -c 10007 -o perf.data sh -c './loop; dd if=/dev/zero of=/dev/null bs=64k count=100 2>/dev/null'
    perf report -i perf.data --stdio --sort dso,sym >report 2>errors || fail "$(cat errors)"
    grep -qE '[0-9]% +loop +\[\.\] counted_loop' report || fail "no symbol of the program: $(cat report errors)"
    [ "$(grep -cE '\[kernel.kallsyms\] +\[k\] [a-z_]+' report)" -ge 3 ] || fail "no symbols of the kernel: $(cat report errors)"
    ! grep -qE '\[k\] 0x' report || fail "addresses of the kernel without a name: $(grep -E '\[k\] 0x' report | sed -n 1,3p)"
    perf report -i perf.data --stats 2>/dev/null | grep -E 'SAMPLE events: +[0-9]{3,}' >/dev/null || fail "few samples" ;;
  trace)
    pmusim=${PMUSIM:-pmusim}
    command -v "$pmusim" >/dev/null || { echo "trace: skipped: no pmusim to replay with (PMUSIM names one)" >&2; exit 0; }
    loop
    events=instructions:u,instructions:k,branches:u,branches:k,cycles:u,cycles:k
    run --record T --file loop -- perf stat -x, -o stat -e $events sh -c './loop; dd if=/dev/zero of=/dev/null bs=64k count=100 2>/dev/null'
    "$pmusim" stat --model "$model" --core flat -x, -o replayed -e $events T
    counts() { awk -F, 'NF > 3 {print $3, $1}' "$1" | sort; }
    [ "$(counts stat)" = "$(counts replayed)" ] || fail "the guest counted $(counts stat), a replay $(counts replayed)"
    "$pmusim" record -q --model "$model" -e cycles -c 10007 -b -o perf.data T
    perf report -i perf.data --stdio --kallsyms perf.data.kallsyms --sort comm,dso,sym >report 2>errors || fail "$(cat errors)"
    [ "$(grep -cE '\[kernel.kallsyms\] +\[k\] [a-z_]+' report)" -ge 3 ] || fail "no symbols of the kernel: $(cat report errors)"
    for line in 'loop +loop +\[\.\] counted_loop' 'sh +sh ' 'dd +busybox ' 'dd +\[kernel.kallsyms\] +\[k\] read_zero'; do
      grep -qE "[0-9]% +$line" report || fail "no $line: $(cat report errors)"
    done
    ! grep -E '% +([^l ][^ ]* +loop|loop +(busybox|sh)) ' report || fail "one program's code is another's"
    # The threads' shares are the whole, and the program's own is known.
    run --record R --regs gpr --file loop -- perf stat -x, -o stat -e instructions:u ./loop
    "$pmusim" stat --model "$model" --core flat --per-thread -x, -o replayed -e instructions:u R
    awk -F, '$1 ~ /^loop-[0-9]+$/ {n += $2} $1 !~ /^loop-/ {rest += $2} END {exit n != 2000004 || rest != 0}' replayed || fail "threads of the replay: $(cat replayed)"
    "$pmusim" trace dump R | awk '$5 == "dec" && $3 == "401005" {split($7, r, "="); n++; if (r[1] != "rcx" || r[2] != sprintf("%x", 1000000 - n)) wrong++}
      END {exit n != 1000000 || wrong}' || fail "RCX of the loop in a trace with registers" ;;
  files)
    echo here >given
    status=0
    run -- sh -c 'cat given; echo there >made; mkdir in; dd if=/dev/urandom of=in/large bs=1M count=3 2>/dev/null; sha256sum in/large >sum; echo bad >&2; exit 7' given >out 2>err || status=$?
    [ $status = 7 ] || fail "exit status $status; expected 7: $(cat err)"
    [ "$(cat out)" = here ] && [ "$(cat err)" = bad ] || fail "output: $(cat out err)"
    [ "$(cat made)" = there ] && sha256sum -c --quiet sum || fail "files differ: $(ls -lR)"
    [ "$(cat given)" = here ] || fail "a file that was only read came back"
    status=0
    run -- sh -c 'kill -9 $$' || status=$?
    [ $status = 137 ] || fail "exit status $status of a command that was killed; expected 137"
    status=0
    run -- sh -c 'echo before; echo c >/proc/sysrq-trigger' >out 2>err || status=$?
    [ $status = 1 ] && grep -q 'stopped before the command ended' err && grep -q 'sysrq triggered crash' console || fail "a kernel that stops: $status, $(cat err)" ;;
  same)
    loop
    cat >all.sh <<'END'
perf stat -x, -e instructions:u,branches:u ./loop
perf stat -x, -e instructions:k,cycles:k,cycles:u,branches,MEM_INST_RETIRED.ALL_STORES dd if=/dev/zero of=/dev/null bs=4k count=500
perf record -q -e cycles:pp -c 10007 -o pebs.data dd if=/dev/zero of=/dev/null bs=4k count=500
perf record -q -b -e branches -c 5003 -o branches.data dd if=/dev/zero of=/dev/null bs=4k count=500
perf record -q -j any_call,any_ret,k -e branches -c 5003 -o calls.data dd if=/dev/zero of=/dev/null bs=4k count=500
perf record -q --call-graph lbr -e instructions:u -c 5003 -o stacks.data dd if=/dev/zero of=/dev/null bs=4k count=500
head -c 16 /dev/urandom | od -x
cat /proc/interrupts /proc/uptime
END
    for feed in blocks again instructions; do
      mkdir $feed
      PMUSIM_MACHINE_FEED=$feed run --file loop -o $feed -- sh all.sh all.sh dd >$feed/out 2>&1
      mv console $feed/
      for samples in pebs branches calls stacks; do
        [ -s $feed/$samples.data ] || fail "no samples on $model: $(cat $feed/out)"
      done
      diff -r blocks $feed || fail "runs on $model differ ($feed)"
    done ;;
  cpus)
    loop
    run --cpus 2 --file loop -- perf stat -a -A -x, -o stat -e instructions:u taskset 2 ./loop
    awk -F, '$1 == "CPU0" && $2 < 1000000 {n++} $1 == "CPU1" && $2 > 2000004 && $2 < 2100000 {n++} END {exit n != 2}' stat || fail "$(cat stat)"
    run --cpus 2 --file loop -- perf record -q -a -e cycles:pp -c 10007 -o perf.data taskset 2 ./loop
    [ "$(perf script -i perf.data -F cpu 2>/dev/null | sort -u | wc -l)" = 2 ] || fail "samples of one CPU" ;;
  uncounted)
    model=skylake-x
    run -- perf stat -x, -o stat -e instructions,cycles,ref-cycles,branches,MEM_INST_RETIRED.ALL_LOADS,BR_INST_RETIRED.NEAR_CALL true 2>err
    [ ! -s err ] || fail "of events that count: $(cat err)"
    expect_sentence() { grep -qxE "pmusim-machine: the guest counted $1" err || fail "no '$1' in: $(cat err)"; }
    run -- perf stat -x, -o stat -e instructions,branch-misses,MEM_LOAD_RETIRED.L1_MISS,r1234,cpu/event=0xc0,cmask=2/ true 2>err
    expect_sentence 'BR_MISP_RETIRED.ALL_BRANCHES \(event C5, umask 00\): this machine predicts every branch; it read 0'
    expect_sentence 'MEM_LOAD_RETIRED.L1_MISS \(event D1, umask 08\): this machine has neither caches nor a pipeline; it read 0'
    expect_sentence 'event 34, umask 12: Skylake-X.* has no such event here; it read 0'
    expect_sentence 'INST_RETIRED.ANY_P \(event C0, umask 00, cmask 2\): this machine has neither caches nor a pipeline; it read 0'
    [ "$(wc -l <err)" = 4 ] || fail "more than four sentences: $(cat err)" ;;
  hostile)
    gcc -static -o hostile "$here/hostile.c"
    ends_with() {  # STATUS PORT BYTES SENTENCE
      local status=0
      run --record T --file hostile -- ./hostile "$2" "$3" 2>err || status=$?
      [ $status = "$1" ] && grep -q "$4" err || fail "hostile $2 $3: exit status $status, $(cat err); expected $1, $4"
    }
    ends_with 1 0x504 0x100000 'the guest hands out 1048576 bytes at once; expected 65536 at most'
    ends_with 1 0x508 12 "what the guest's first process tells of its tasks: a record COMM of 12 bytes; expected 17 at least"
    ends_with 0 0x50C 0xFFFFFFFF 'nothing was recorded, as the guest counted nothing' ;;  # it is no ring: nothing is read there
  gdb)
    run -- sh -c 'cat /proc/kallsyms >symbols'
    address=$(awk '$3 == "start_kernel" {print $1}' symbols)
    # debugged PLACE COMMAND...: what stands behind -- ends as ever, with the debugger's COMMAND at PLACE.
    debugged() {
      local status=0
      rm -f err
      "$machine" run --model "$model" --gdb "$1" -- sh -c 'echo out; exit 7' >out 2>err &
      until grep -qs 'target remote' err; do kill -0 $! || fail "$(cat err)"; sleep 0.1; done
      "${@:2}" || { kill $!; fail "${*:2}: $(cat err)"; }
      wait $! || status=$?
      [ $status = 7 ] && [ "$(cat out)" = out ] || fail "with a debugger: exit status $status, $(cat out err)"
    }
    debugged socket "$here/debugger.py" socket "$address"
    [ ! -e socket ] || fail "the socket is left"
    port=$(python3 -c 'import socket; s = socket.create_server(("localhost", 0)); print(s.getsockname()[1])')
    # The line that is printed, with commands of ours behind it, is one for gdb.
    typed() { eval "$(sed -n 's/^  gdb /gdb -nx -batch /p' err) -ex 'break *0x$address' -ex continue -ex 'print \$pc == 0x$address' -ex detach" >typed 2>&1 && grep -q '^\$1 = 1$' typed || { cat typed >&2; return 1; }; }
    if command -v gdb >/dev/null; then debugged "$port" typed; else debugged "$port" "$here/debugger.py" "$port" "$address"; fi ;;
  hardware)
    loop
    for time in first second; do
      rm -f stat  # a file that the command names is part of the root
      run --hw-log $time.log --hw-timeline $time.json --file loop -- perf stat -x, -o stat -e instructions:u ./loop
    done
    cmp first.log second.log && cmp first.json second.json || fail "two logs differ"
    expect instructions:u 2000004
    # The fixed counter counts user mode and interrupts (0AH) for as many nanoseconds as the program has instructions, and more.
    awk '$1 < last {back++} {last = $1}
      $2 == "write" && $3 == "register=IA32_FIXED_CTR_CTRL" && begun {counted += $1 - begun; begun = 0}
      $2 == "write" && $3 == "register=IA32_FIXED_CTR_CTRL" && $4 == "value=0xa" {begun = $1}
      END {exit back || counted < 2000004 || counted > 20000000}' <(grep -v '^#' first.log) || fail "$(grep -E 'FIXED_CTR_CTRL' first.log | tail)"
    grep -qE '^[0-9]+ write register=IA32_PERF_GLOBAL_CTRL value=0x[0-9a-f]+ at=[a-z_]*intel_pmu_enable_all' first.log || fail "no IA32_PERF_GLOBAL_CTRL: $(head first.log)"
    python3 -c 'import json; names = {e["name"] for e in json.load(open("first.json"))["traceEvents"]}; assert {"IA32_PERF_GLOBAL_CTRL", "IA32_FIXED_CTR_CTRL"} <= names, names'
    # A sample is a PMI, or a record of PEBS; perf knows how many there are.
    counts_samples() {  # EVENT PATTERN
      run --hw-log log --file loop -- perf record -q -e "$1" -c 10007 -o perf.data ./loop
      local samples
      samples=$(perf report -i perf.data --stats 2>/dev/null | sed -n 's/.*SAMPLE events: *\([0-9]*\).*/\1/p' | sed -n 1p)
      [ "$samples" -gt 100 ] && [ "$(grep -cE "$2" log)" = "$samples" ] || fail "$1: $samples samples, $(grep -cE "$2" log) of '$2'"
    }
    counts_samples instructions:u '^[0-9]+ pmi ip=0x4010[0-9a-f]+ ring=3'
    counts_samples instructions:upp '^[0-9]+ record counters=.* outcome=written'
    # What hangs has a log, too.
    "$machine" run --model "$model" --hw-log ended -- sh -c 'echo up; while :; do :; done' >up 2>err &
    until grep -q up up; do kill -0 $! || fail "$(cat err)"; sleep 0.2; done
    kill -INT $!
    status=0
    wait $! || status=$?
    [ $status = 130 ] && grep -qE '^[0-9]+ write register=IA32_PERF_GLOBAL_CTRL value=0x[0-9a-f]+ at=0xffffffff' ended || fail "after SIGINT: exit status $status, $(cat err)"
    run --cpus 2 --hw-log log --file loop -- taskset 2 perf stat -e instructions:u ./loop 2>stat
    counting() { grep -c 'register=IA32_FIXED_CTR_CTRL value=0xa' "$1"; }
    [ "$(counting log)" = 0 ] && [ "$(counting log.1)" != 0 ] || fail "on CPU 1: $(counting log) and $(counting log.1)" ;;
  boots)
    # What the kernel says of each model's PMU stands in the table of docs/machine.md. Number n is the model n * 23: neighbours in the table differ little.
    models=() said=()
    while IFS='|' read -r _ names line _; do
      for name in $(tr -d '`' <<<"$names"); do models+=("$name") said+=("$(sed 's/^ *//; s/ *$//' <<<"$line")"); done
    done < <(sed -n '/^## Models and kernels/,/^Newer/p' "$here/../../docs/machine.md" | grep '^| `')
    all=${#models[@]}
    [ "$all" -gt 40 ] && [ $((all % 23)) != 0 ] || fail "docs/machine.md lists $all models; expected more than 40, and no multiple of 23"
    boot() {  # NUMBER: in a folder of its own; a line in ../failed says what is wrong
      local at=$(($1 * 23 % all)) status=0 wrong=
      mkdir "$1" && cd "$1"
      (ulimit -S -t "${BOOT_SECONDS:-60}" && exec "$machine" run --timeout 3600 --model "${models[at]}" --console console \
        -- perf stat -x, -o stat -e instructions true) >out 2>&1 || status=$?
      if [ $status = 124 ] || grep -q "the emulator's exit status is 152" out; then wrong="hangs"  # 152: SIGXCPU
      elif [ $status != 0 ]; then wrong="exit status $status"
      elif ! tr -s ' ' <console | grep -F "Performance Events: ${said[at]}, " >/dev/null; then wrong="the kernel does not find '${said[at]}', but $(grep -A1 'Performance Events' console)"
      elif ! awk -F, '$3 ~ /instructions/ && $1 > 100000 {n++} END {exit n != 1}' stat; then wrong="perf stat says $(cat stat)"
      elif ! grep -q 'reboot: Restarting system' console; then wrong="no end of the kernel's own"
      fi
      [ -n "$wrong" ] || touch ../passed."$1"
      [ -z "$wrong" ] || printf 'boot %s, %s: %s; the last that was said:\n%s\n' "$1" "${models[at]}" "$wrong" "$(tail -n 5 out console)" >../failed."$1"
      cd .. && rm -rf "$1"
    }
    first=${3:-0} at_once=${BOOTS_AT_ONCE:-2}
    for ((worker = 0; worker < at_once; worker++)); do
      for ((n = first + worker; n < first + $2; n += at_once)); do boot $n; done &
    done
    wait
    failures=$(($2 - $(find . -name 'passed.*' | wc -l))) hangs=$(cat failed.* 2>/dev/null | grep -cE '^boot [0-9]+, [^:]+: hangs;' || true)
    cat failed.* 2>/dev/null || true
    echo "$2 boots, of $all models in turn: $hangs hang, $((failures - hangs)) fail"
    [ "$failures" = 0 ] ;;
  ends)
    for signal in INT KILL; do
      "$machine" run --model "$model" -- sh -c 'while :; do :; done' 2>err &
      until emulator=$(pgrep -P $! -f machine-emulator); do sleep 0.2; done
      status=0
      kill -$signal $! && wait $! 2>/dev/null || status=$?
      for try in $(seq 100); do kill -0 "$emulator" 2>/dev/null && sleep 0.1; done
      ! kill -0 "$emulator" 2>/dev/null || fail "SIG$signal leaves the emulator"
      [ $signal != INT ] || { [ $status = 130 ] && grep -q 'ended by signal 2' err; } || fail "SIGINT: exit status $status, $(cat err)"
    done
    status=0
    run -- echo lost >/dev/full 2>err || status=$?
    [ $status = 2 ] && grep -q 'standard output cannot be written' err || fail "a full standard output: $status, $(cat err)"
    mkdir small
    if mount -t tmpfs -o size=64k none small 2>/dev/null; then
      status=0
      run -o small -- dd if=/dev/zero of=large bs=64k count=4 2>err || status=$?
      umount small
      [ $status = 2 ] && grep -q 'small/large: cannot be written to its end' err || fail "a full disk: $status, $(cat err)"
    fi ;;
  *) sed -n '3,21s/^# \?//p' "$here/run.sh" >&2; exit 2 ;;
esac

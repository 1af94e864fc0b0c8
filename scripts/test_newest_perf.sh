#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The newest perf of Debian's backports reads a file of each kind that `pmusim record` writes, without a word on
# standard error:
#
#   scripts/test_newest_perf.sh [PERF]     PERF is fetched into build/newest-perf if not given (linux/fetch-perf.sh)
#
# Exit status 77, and a sentence, where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
pmusim=${PMUSIM:-build/release/bin/pmusim}
[ -x "$pmusim" ] || { echo "test_newest_perf: $pmusim is not there; build it, or name one in PMUSIM" >&2; exit 77; }
perf=${1:-$(linux/fetch-perf.sh build/newest-perf)} || { echo "test_newest_perf: no newest perf here" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/program.c" <<'EOF'
#include <pthread.h>
static volatile unsigned long sum;
static unsigned long step(unsigned long n) { return (n * 2654435761u) >> 7; }
static void* work(void* unused) {
  static unsigned char bytes[4096];
  for (unsigned long n = 0; n < 4000; ++n) {
    bytes[step(n) % sizeof bytes] += 1;
    if (step(n) & 1) sum += bytes[n % sizeof bytes];
  }
  return unused;
}
int main(void) {
  pthread_t other;
  pthread_create(&other, 0, work, 0);
  work(0);
  return pthread_join(other, 0);
}
EOF
${CC:-cc} -O1 -g -pthread -o "$scratch/program" "$scratch/program.c"
"$pmusim" trace record --regs simd -o "$scratch/trace" "$scratch/program" >/dev/null 2>&1

failed=0 read=0
# silent WHAT COMMAND...: it succeeds, and says nothing on standard error.
silent() {
  local what=$1
  shift
  "$@" >"$scratch/out" 2>"$scratch/err" || { echo "$what: exit status $?: $(head -2 "$scratch/err")"; failed=1; }
  if grep -v "${expected:-^$}" "$scratch/err" | grep '[^[:space:]]' >"$scratch/unexpected"; then
    echo "$what: $(head -2 "$scratch/unexpected")"
    failed=1
  fi
}
# kind NAME OPTION...: what `pmusim record OPTION...` writes is read in each way.
kind() {
  local name=$1 file=$scratch/$1.data
  shift
  "$pmusim" record -q -o "$file" "$@" "$scratch/trace" >"$scratch/out" 2>&1 || {
    echo "$name: pmusim record: $(tail -1 "$scratch/out")"
    failed=1
    return
  }
  silent "$name: perf report" "$perf" report --stdio -i "$file"
  silent "$name: perf report -D" "$perf" report -D -i "$file"
  silent "$name: header" "$perf" report --header-only -I -i "$file"
  silent "$name: perf script" "$perf" script --show-task-events --show-mmap-events -i "$file"
  [ -s "$scratch/out" ] || { echo "$name: perf script shows nothing"; failed=1; }
  read=$((read + 1))
}

kind plain -e instructions:u -c 5003 --model skylake
kind frequency -e cycles:u -F 20000 --model skylake
kind several -e instructions:u,branches:u,cycles:u -c 2003 --model icelake
kind group -e '{instructions:u,branches:u}:S' -c 3001 --model icelake
kind branches -e branches:u -c 1009 -b --model skylake
kind branch-types -e branches:u -c 1009 -j any,u,save_type,hw_index --model goldencove
kind call-graph -e branches:u -c 1009 --call-graph lbr --model goldencove
kind precise -e cycles:upp -c 2003 --model icelake
kind registers -e instructions:upp -c 3001 -I ax,bx,ip,sp --user-regs ax,ip --model icelake
kind xmm -e instructions:upp -c 3001 -I ax,xmm0 --model icelake
kind memory -e cpu/event=0xcd,umask=0x1,ldlat=3/upp -c 101 -d -W --phys-data --data-page-size --code-page-size --model lioncove
kind transaction -e instructions:upp -c 3001 --transaction --model skylake
kind throttled -e branches:u -c 29 --throttle --model skylake
kind switches -e instructions:u -c 5003 --switch-events --model icelake
kind compressed -e branches:u -c 1009 -b -z --model icelake
kind clock -e instructions:u -c 5003 -k monotonic --model icelake
kind build-ids -e instructions:u -c 5003 --buildid-mmap --model icelake
kind attr-64 -e instructions:u -c 5003 --attr-size 64 --model icelake
kind attr-144 -e instructions:u -c 5003 --attr-size 144 --kernel 7.3 --model icelake
kind hybrid -e branches:upp -c 1009 -b --kernel 7.3 --model goldencove
kind reloads -e '{cpu_atom/event=0xc4,period=500,acr_mask=0x2/u,cpu_atom/event=0xc5,period=20,acr_mask=0x3/u}' --kernel 7.3 --model skymont
kind architectural-pebs -e instructions:upp -c 1009 -b -I ax,ip --kernel 7.3 --model diamondrapids
kind omr-memory -e cpu/event=0xcd,umask=0x1,ldlat=3/upp -c 101 -d -W --kernel 7.3 --model diamondrapids
kind branch-counters -e '{branches:u,branch-misses:u}' -c 1009 -j any,u,counter --kernel 7.3 --model sierraforest
kind amd -e cycles:u -c 5003 --core flat --model turin
kind amd-branches -e branches:u -c 1009 -b --core flat --model turin

# As a stream, which has no header at its beginning.
"$pmusim" record -q -e branches:u -c 1009 -b --model icelake -o - "$scratch/trace" >"$scratch/stream.data"
# A stream's features end with the number behind the last that the writer knows: 32, which is a feature to newer readers.
expected='Invalid HEADER_CPU_DOMAIN_INFO: section too small (0)'
silent "stream: perf report" "$perf" report --stdio -i "$scratch/stream.data"
read=$((read + 1))

[ "$failed" = 0 ] || exit 1
echo "$("$perf" --version) reads $read kinds of files"

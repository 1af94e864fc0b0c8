#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows that the same input gives the same bytes, whatever pmusim was compiled with.
#
#   scripts/determinism.sh [CELL...]     CELL is COMPILER-OPTIMISATION[-san]: g++-O2, clang++-14-O3, clang++-19-O0-san;
#                                        without any, all 18 (g++ and both clangs, O0, O2 and O3, plain and sanitized),
#                                        or the path of a pmusim that is built already
#
# Builds the command once per cell in build/determinism/CELL (O3 is -O3 -march=native), runs what
# scripts/determinism_runs.txt lists over the same three traces, and compares hashes with those of the first cell.
# Results stay in build/determinism/results/CELL, a hash for each run, and when they were made and of what in CELL.when.
# TRACES=DIR takes traces recorded before (branches, mispredict, simd .pmutrace), JOBS=N compiles with N at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in -*) sed -n '3,13s/^# \?//p' "$0" >&2; exit 2 ;; esac
top=$PWD work=$PWD/build/determinism
mkdir -p "$work"/{results,traces}
if (($# == 0)); then
  for compiler in g++ clang++-14 clang++-19; do
    for level in O0 O2 O3; do set -- "$@" "$compiler-$level" "$compiler-$level-san"; done
  done
fi

# The path of the cell's pmusim, built.
command_of() {
  local cell=$1 plain=${1%-san} level flags sanitizers=
  if [ -x "$cell" ]; then realpath "$cell"; return; fi
  level=${plain##*-}
  case $level in
    O0) flags="-O0" ;; O2) flags="-O2 -DNDEBUG" ;; O3) flags="-O3 -march=native -DNDEBUG" ;;
    *) printf "determinism.sh: no cell '%s': expected COMPILER-O0, -O2 or -O3, perhaps with -san behind it, or a pmusim\n" "$cell" >&2; exit 2 ;;
  esac
  case $cell in *-san) sanitizers=address,undefined ;; esac
  local compiler=${plain%-*}
  local in_c=${compiler/clang++/clang}
  command -v "$compiler" >/dev/null ||
    { printf 'determinism.sh: %s is not installed (scripts/packages.sh determinism)\n' "$compiler" >&2; exit 2; }
  # Warnings are CI's: a newer compiler has others. No build type: a release compiles parts with a level of their own.
  cmake -S "$top" -B "$work/$cell" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${in_c/g++/gcc}" \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-w $flags" -DCMAKE_C_FLAGS="-w $flags" -DPMUSIM_TESTS=OFF \
    -DPMUSIM_BENCHMARKS=OFF -DPMUSIM_JOINED=ON -DPMUSIM_SANITIZE="$sanitizers" >/dev/null
  ninja -C "$work/$cell" --quiet -j"${JOBS:-$(nproc)}" pmusim >&2
  printf '%s\n' "$work/$cell/bin/pmusim"
}

# The three traces, recorded once: what is compared is what a replay makes of them.
record_traces() {
  local pmusim=$1 traces=$2
  [ -e "$traces/simd.pmutrace" ] && return
  cc -O0 -g -fcf-protection=none -fno-pie -no-pie -o "$traces/branches" examples/workloads/branches.c
  cc -O0 -g -fcf-protection=none -fno-pie -no-pie -o "$traces/mispredict" examples/workloads/mispredict.c
  cc -O1 -ftree-vectorize -g -fcf-protection=none -fno-pie -no-pie -pthread -o "$traces/simd" examples/workloads/simd.c
  "$pmusim" trace record -o "$traces/branches.pmutrace" --start-symbol main --count 200000 "$traces/branches" 400 >/dev/null
  "$pmusim" trace record -o "$traces/mispredict.pmutrace" --regs gpr --start-symbol main --count 40000 "$traces/mispredict" >/dev/null
  "$pmusim" trace record -o "$traces/simd.pmutrace" --regs simd --start-symbol main --count 20000 "$traces/simd" >/dev/null
}

# "NAME HASH" of each run.
hashes_of() {
  local pmusim=$1 traces=$2 name arguments
  rm -rf "$work/run" && mkdir -p "$work/run" && cd "$work/run"
  ln -s "$pmusim" pmusim  # perf.data has the command line
  while read -r name arguments; do
    case $name in ''|'#'*) continue ;; esac
    arguments=${arguments//BRANCHES/$traces/branches.pmutrace}
    arguments=${arguments//MISPREDICT/$traces/mispredict.pmutrace}
    arguments=${arguments//SIMD/$traces/simd.pmutrace}
    arguments=${arguments//SCENARIOS/$top/tests/scenarios}
    arguments=${arguments//OUT/$name.out}
    arguments=${arguments//LOG/$name.log}
    # shellcheck disable=SC2086  # words of a command
    ./pmusim $arguments >"$name.text" 2>&1 </dev/null ||
      { printf 'determinism.sh: %s: pmusim %s\n' "$name" "$arguments" >&2; cat "$name.text" >&2; exit 1; }
    printf '%s %s\n' "$name" "$(cat "$name".* | sha256sum | cut -c1-32)"
  done <"$top/scripts/determinism_runs.txt"
}

first='' differ=0
for cell in "$@"; do
  pmusim=$(command_of "$cell")
  traces=${TRACES:-$work/traces}
  record_traces "$pmusim" "$traces"
  results=$work/results/$(echo "$cell" | tr / _)
  (hashes_of "$pmusim" "$traces") >"$results"
  printf '%s %s\n' "$(git rev-parse --short HEAD)" "$(date -u +%F)" >"$results.when"
  if [ -z "$first" ]; then
    first=$results
    printf '%-24s %d runs, all together %s\n' "$cell" "$(wc -l <"$results")" "$(sha256sum <"$results" | cut -c1-32)"
  elif others=$(diff "$first" "$results"); then
    printf '%-24s the same\n' "$cell"
  else
    differ=1
    printf '%-24s differs:%s\n' "$cell" "$(sed -n 's/^> \([^ ]*\) .*/ \1/p' <<<"$others" | tr -d '\n')"
  fi
done
exit $differ

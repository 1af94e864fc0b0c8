#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles each source by itself, unoptimised, and links nothing: finds the include that is missing and the name that hides a
# member's, which a joined build does not see. Those changed last come first.
#
#   scripts/each_source.sh     with g++, all errors in one run; SOURCES_SECONDS says when to begin no further one
#                              (default: never)
set -euo pipefail
cd "$(dirname "$0")/.."
if (($#)); then sed -n '3,7s/^# \?//p' "$0" >&2; exit 2; fi
cmake -S . -B build/sources -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DPMUSIM_JOINED=OFF \
  -DPMUSIM_TESTS=ON -DPMUSIM_BENCHMARKS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null

# A line each, SOURCE and the command that compiles it, of precompiled headers or of what is no such header. Examples of pages
# come into being as they are built: the joined build, too, compiles each of them by itself.
commands() {
  jq -r --arg root "$PWD/" --argjson headers "$1" '.[] | select((.file | endswith("cmake_pch.hxx.cxx")) == $headers) |
    "\(.file | ltrimstr($root)) \(.command)"' build/sources/compile_commands.json |
    while read -r source command; do if [ -e "$source" ]; then printf '%s %s\n' "$source" "$command"; fi; done
}
compile() {
  [ "$EPOCHSECONDS" -lt "$last_start" ] || return 0
  echo "${1%% *}" >&3
  cd build/sources
  eval "${CMAKE_CXX_COMPILER_LAUNCHER:-} ${1#* }"
}
export -f compile
export last_start=$((EPOCHSECONDS + ${SOURCES_SECONDS:-1000000}))
compiled=$(mktemp)
exec 3>>"$compiled"
run() { tr '\n' '\0' | xargs -0 -P "$(nproc)" -n 1 bash -c 'compile "$1"' compile; }

commands true | run
: >"$compiled"
status=0 all=$(commands false)
scripts/newest_first.py <<<"$all" | run || status=1
done=$(wc -l <"$compiled")
rm "$compiled"
echo "each source: $done compiled, no time for $(($(wc -l <<<"$all") - done)) more"
exit $status

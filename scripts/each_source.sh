#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles each source by itself, unoptimised, and links nothing: finds the include that is missing and the name that hides a
# member's, which a joined build does not see.
#
#   scripts/each_source.sh     into build/sources, g++, all errors in one run
set -euo pipefail
cd "$(dirname "$0")/.."
if (($#)); then sed -n '3,6s/^# \?//p' "$0" >&2; exit 2; fi
cmake -S . -B build/sources -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DPMUSIM_JOINED=OFF \
  -DPMUSIM_TESTS=ON -DPMUSIM_BENCHMARKS=ON >/dev/null
ninja -C build/sources -t targets all | sed -n 's/^\([^:]*\.cpp\.o\): .*/\1/p' | xargs ninja -C build/sources -k 0

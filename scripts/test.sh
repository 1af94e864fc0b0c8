#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds what is tested (optimised) and runs all tests.
#
#   scripts/test.sh [PRESET [CTEST OPTION...]]     PRESET of CMakePresets.json: release (default), debug, asan,
#                                                  tsan, clang
#
# With options ctest runs the tests that they choose, each in a process of its own; scripts/test.sh release -R ''
# all of them so, which takes twice as long.
set -euo pipefail
cd "$(dirname "$0")/.."
preset="${1:-release}"
shift || true

scripts/packages.sh test
# The quickstart configures the same build without tests.
cmake --preset "$preset" -DPMUSIM_TESTS=ON -DPMUSIM_BENCHMARKS=OFF -DPMUSIM_PYTHON=ON
cmake --build --preset "$preset"
chosen() { ctest --preset "$preset" -j "$(($(nproc) + 1))" --no-tests=error "$@"; }
if (($#)); then
  chosen "$@"
  exit
fi
status=0
scripts/test_modules.sh "build/$preset" || status=1
chosen -LE module || status=1
exit $status

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds everything (optimised) and runs all tests.
#
#   scripts/test.sh [PRESET [CTEST OPTION...]]     PRESET of CMakePresets.json: release (default), debug, asan,
#                                                  tsan, clang
set -euo pipefail
cd "$(dirname "$0")/.."
preset="${1:-release}"
shift || true

scripts/packages.sh test
# The quickstart configures the same build without tests.
cmake --preset "$preset" -DPMUSIM_TESTS=ON -DPMUSIM_BENCHMARKS=ON -DPMUSIM_PYTHON=ON
cmake --build --preset "$preset"
# One more than there are processors: many tests wait for programs that they start.
ctest --preset "$preset" -j "$(($(nproc) + 1))" --no-tests=error "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The PMU driver of Debian's kernels on the emulated PMU, in the release build: built, and held to this project's driver over
# all models and set-ups (docs/linux-driver.md).
#
#   scripts/test_linux.sh [CTEST OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/packages.sh kernel
kernels=
for release in 6.12 6.1; do kernels+="${kernels:+;}/usr/src/linux-source-$release.tar.xz"; done
cmake --preset release -DPMUSIM_TESTS=ON -DPMUSIM_LINUX="$kernels"
cmake --build --preset release --target pmusim pmusim_linux_tests
ctest --preset release -j "$(nproc)" --no-tests=error -R '^linux\.' "$@"

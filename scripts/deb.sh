#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the Debian packages libpmusim0, libpmusim-dev, pmusim and python3-pmusim in build/deb, for /usr.
#
#   scripts/deb.sh [CMAKE OPTION...]     for example -DPMUSIM_MAINTAINER='Jo Doe <jo@example.org>'
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/packages.sh deb
cmake --preset release -B build/deb-tree -DCMAKE_INSTALL_PREFIX=/usr -DPMUSIM_TESTS=OFF -DPMUSIM_BENCHMARKS=OFF \
  -DPMUSIM_PYTHON=ON "$@"
cmake --build build/deb-tree --target pmusim_packaged
rm -rf build/deb
cpack --config build/deb-tree/CPackConfig.cmake -B build/deb
ls -l build/deb/*.deb

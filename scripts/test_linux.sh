#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The PMU driver of Debian's kernels on the emulated PMU, in the release build: built, and held to this project's driver over
# all models and set-ups (docs/linux-driver.md). The kernels are 6.12 and the newest that Debian's backports have, which is
# fetched; without network or package, or without a list of known differences for it, a sentence, and 6.1 in its place.
#
#   scripts/test_linux.sh [CTEST OPTION...]
#
# PMUSIM_KERNELS names others, as a list with semicolons.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/packages.sh kernel
second=$(linux/fetch-kernel.sh build/linux-source) || {
  echo "test_linux: no newest kernel here, so 6.1 is the second one" >&2
  second=/usr/src/linux-source-6.1.tar.xz
}
release=${second##*linux-source-} release=${release%.tar.xz}
if [ ! -e "linux/known-differences-$release.txt" ]; then
  echo "test_linux: there is no list of known differences for Linux $release, so 6.1 is the second one" >&2
  second=/usr/src/linux-source-6.1.tar.xz
fi
kernels=${PMUSIM_KERNELS:-"/usr/src/linux-source-6.12.tar.xz;$second"}
cmake --preset release -DPMUSIM_TESTS=ON -DPMUSIM_LINUX="$kernels"
cmake --build --preset release --target pmusim pmusim_linux_tests
ctest --preset release -j "$(nproc)" --no-tests=error -R '^linux\.' "$@"

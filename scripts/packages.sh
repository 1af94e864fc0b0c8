#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the Debian packages that pmusim needs, those that are missing only. Safe to run again.
#
#   scripts/packages.sh quickstart  to build the command, and what shows its first profile
#   scripts/packages.sh build    to build everything: the libraries, the tests, the package for Python
#   scripts/packages.sh test     the same, and what the tests use: perf, BOLT, AutoFDO, llvm-profgen, Lua to profile,
#                                and programs to record
#   scripts/packages.sh deb      what makes Debian packages; deb-test: what tests them
#   scripts/packages.sh kernel   sources of Linux kernels and what builds them, for pmusim-linux
#   scripts/packages.sh machine  what builds pmusim-machine, and the programs of its guests
#   scripts/packages.sh site     what makes a site of the pages
#   scripts/packages.sh determinism  the compilers of scripts/determinism.sh
#   scripts/packages.sh ci       what tests need, and clang with its sanitizers, clang-format, clang-tidy, ccache, doxygen,
#                                chromium to show pages, pprof to read exports
set -euo pipefail

compile="g++ cmake ninja-build pkg-config libboost-dev libfmt-dev libzydis-dev libpfm4-dev libipt-dev libzstd-dev zlib1g-dev liblzma-dev
  libelf-dev libdw-dev libseccomp-dev libsqlite3-dev libncurses-dev libcli11-dev nlohmann-json3-dev"
quickstart="$compile linux-perf qemu-user"
# A bare Debian lacks what CPack looks into programs with.
deb="$compile pybind11-dev python3-dev dpkg-dev file"
deb_test="lintian mmdebstrap python3"
build="$quickstart libgtest-dev libgmock-dev libbenchmark-dev pybind11-dev python3-dev"
test="git man-db tmux mandoc zsh strace fakeroot dpkg-dev file binutils bolt-16 llvm-16 liblua5.4-dev autofdo jq libc6-dbg
  libluajit-5.1-dev busybox-static gzip xz-utils zstd sqlite3 python3 libcmocka-dev abigail-tools
  python3-numpy python3-matplotlib python3-pandas python3-venv mypy strace libpapi-dev msr-tools slurmctld slurmd slurm-client munge"
# Large ones, without which few tests are skipped.
ci="golang-go golang-github-google-pprof-dev chromium llvm-19 clang libclang-rt-14-dev clang-format clang-tidy ccache git doxygen"
site="mkdocs mkdocs-material"
determinism="clang libclang-rt-14-dev clang-19 libclang-rt-19-dev"
kernel="linux-source-6.12 linux-source-6.1 flex bison bc libelf-dev xz-utils"

machine="$compile linux-perf dpkg-dev meson libglib2.0-dev libpixman-1-dev libfdt-dev seabios busybox-static xz-utils"

case "${1:-}" in
  quickstart) wanted="$quickstart" ;;
  build) wanted="$build" ;;
  deb) wanted="$deb" ;;
  deb-test) wanted="$deb_test" ;;
  test) wanted="$build $test" ;;
  ci) wanted="$build $test $ci" ;;
  kernel) wanted="$kernel" ;;
  machine) wanted="$machine" ;;
  site) wanted="$site" ;;
  determinism) wanted="$build $determinism" ;;
  *) sed -n '3,17s/^# \?//p' "$0" >&2; exit 2 ;;
esac

missing=()
for package in $wanted; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "packages: everything needed is installed"
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "packages: need root or sudo to install: ${missing[*]}" >&2; exit 2; }
  as_root=(sudo)
fi
echo "packages: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
  { echo "packages: cannot be installed, by what apt-get says above: ${missing[*]}" >&2; exit 2; }

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Uses pmusim as another project does: installed, packaged, or as sources.
#
#   consume.sh install BUILD SCRATCH              installs BUILD's products into SCRATCH/prefix, and moves them
#   consume.sh packages BUILD SCRATCH             makes Debian packages of them and installs these in SCRATCH/root
#   consume.sh cmake PREFIX SCRATCH CONSUME       builds and runs this folder against PREFIX, see CMakeLists.txt
#   consume.sh pkg-config PREFIX SCRATCH MODULE   the same without CMake: pmusim, pmusim-static, -full, -hardware
#   consume.sh python PREFIX PYTHON               runs an example with the package for Python that is in PREFIX
#   consume.sh sources SOURCE SCRATCH             builds and runs this folder with pmusim's sources in the build
#   consume.sh fetch SOURCE SCRATCH               configures that, by FetchContent
#
# CC, CXX: the compilers.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "consume.sh: $*" >&2; exit 1; }

# Nothing in the tree may name the build's folders: it can be moved.
check_relocatable() {
  local prefix=$1 build=$2
  if grep -rIlF -e "$build" -e "$prefix" "$prefix"; then fail "these files hold a path of the build"; fi
}

# The shared library shows the C interface, and nothing of what it is made from.
check_exports() {
  local library
  library=$(find "$1" -name libpmusim.so)
  [ -n "$library" ] || return 0  # the hardware alone has none
  if nm -D --defined-only "$library" | awk '{print $3}' | grep -viE '^pmusim_'; then fail "$library exports these"; fi
}

install_build() {
  local build=$1 scratch=$2
  rm -rf "$scratch" && mkdir -p "$scratch"
  cmake --install "$build" --prefix "$scratch/first" >/dev/null
  check_relocatable "$scratch/first" "$build"
  check_exports "$scratch/first"
  mv "$scratch/first" "$scratch/prefix"
}

install_packages() {
  local build=$1 scratch=$2
  rm -rf "$scratch" && mkdir -p "$scratch/root/var/lib/dpkg/"{info,updates}
  touch "$scratch/root/var/lib/dpkg/"{status,available}
  # Quick to compress; what is released takes its time.
  cpack --config "$build/CPackConfig.cmake" -B "$scratch" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$scratch/log" ||
    { cat "$scratch/log"; fail "cpack failed"; }
  # No other package is in there: dependencies are looked at, and not had.
  local -a as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(fakeroot)
  "${as_root[@]}" dpkg --root="$scratch/root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null \
    -i "$scratch"/*.deb >"$scratch/dpkg.log" 2>&1 || { cat "$scratch/dpkg.log"; fail "dpkg failed"; }
  check_relocatable "$scratch/root/usr" "$build"
}

configure() {
  local scratch=$1
  shift
  rm -rf "$scratch"
  mkdir -p "$(dirname "$scratch")"
  cmake -S "$here" -B "$scratch" -G Ninja "$@" >"$scratch.log" 2>&1 || { cat "$scratch.log"; fail "cmake failed"; }
}

configure_and_run() {
  local scratch=$1
  configure "$@"
  cmake --build "$scratch" >"$scratch.log" 2>&1 || { cat "$scratch.log"; fail "build failed"; }
  cd "$scratch"
  for program in hardware full shared static; do
    if [ -x $program ]; then "./$program"; ran=yes; fi
  done
  [ "${ran:-}" = yes ] || fail "nothing to run"
}

with_pkg_config() {
  local prefix=$1 scratch=$2 module=$3
  local -a flags compiler
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name "$module.pc")") && export PKG_CONFIG_PATH
  read -ra flags < <(pkg-config --cflags --libs "$module")
  case $module in
    pmusim | pmusim-static) compiler=("${CC:-cc}" "$prefix/share/doc/libpmusim-dev/examples/sampling.c") ;;
    *) compiler=("${CXX:-c++}" -std=c++20 "$here/${module#pmusim-}.cpp") ;;
  esac
  mkdir -p "$scratch" && cd "$scratch"
  "${compiler[@]}" -o "$module" "${flags[@]}"
  LD_LIBRARY_PATH=$(pkg-config --variable=libdir "$module") "./$module"
}

with_python() {
  local prefix=$1 python=$2
  PYTHONPATH=$prefix/lib/python3/dist-packages "$python" "$here/../../examples/python/first_pebs.py" | tee /dev/stderr |
    grep -x "a branch at 0x40100c" >/dev/null
}

case "${1:-}" in
  install) install_build "$2" "$3" ;;
  packages) install_packages "$2" "$3" ;;
  cmake) configure_and_run "$3" -DCONSUME="$4" -DCMAKE_PREFIX_PATH="$2" ;;
  pkg-config) with_pkg_config "$2" "$3" "$4" ;;
  python) with_python "$2" "$3" ;;
  # Nobody waits for what this program computes, but for its compilation.
  sources)
    configure_and_run "$3" -DCONSUME=subdirectory -DPMUSIM_SOURCE="$2" -DPMUSIM_JOINED=ON -DCMAKE_CXX_FLAGS_RELEASE=-O0
    ;;
  fetch) configure "$3" -DCONSUME=fetch -DPMUSIM_SOURCE="$2" ;;
  *) sed -n '3,14s/^# \?//p' "$0" >&2; exit 2 ;;
esac

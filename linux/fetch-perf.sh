#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches the newest perf that a suite of Debian's backports has, with all libraries that it needs, and prints
# the path of a script that runs it:
#
#   linux/fetch-perf.sh FOLDER [RELEASE]     RELEASE is trixie if not given: its main part and its backports
#
# Nothing is installed, and the machine's lists and packages stay as they are: the packages are unpacked in
# FOLDER, and perf runs by their own loader. What is in FOLDER already is not fetched again. Exit status 3, and
# a sentence, where there is no network or no such package.
set -euo pipefail

[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '3,10s/^# \?//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1") release=${2:-trixie}
none() { echo "fetch-perf: $1" >&2; exit 3; }
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || none "this machine has no apt-get and dpkg-deb to fetch perf with"
. "$(dirname "$0")/../scripts/suite.sh"
use_suites "$folder" deb "$release" "$release-backports"
: >"$folder/apt/status"  # nothing is taken to be there: every library comes along
apt+=(-o "Dir::State::status=$folder/apt/status" -o APT::Install-Recommends=false)

run=$folder/perf
if [ ! -x "$run" ]; then
  apt-get "${apt[@]}" -qq update >"$folder/apt/log" 2>&1 || none "no list of $release: $(first_error "$folder/apt/log")"
  apt-get "${apt[@]}" -qq -y --download-only -t "$release-backports" install linux-perf >>"$folder/apt/log" 2>&1 ||
    none "linux-perf could not be fetched: $(first_error "$folder/apt/log")"
  for package in "$folder"/apt/cache/archives/*.deb; do
    case "$(basename "$package")" in
      lib* | linux-perf* | zlib* | binutils* | gcc-*-base*) dpkg-deb -x "$package" "$folder/unpacked" ;;
    esac
  done
  program=$(find "$folder/unpacked/usr" -type f -name 'perf*' -perm -u+x -path '*bin*' | sort -V | tail -1)
  loader=$(find "$folder/unpacked" -name 'ld-linux-x86-64.so.2' | sed -n 1p)
  [ -n "$program" ] && [ -n "$loader" ] || none "the package has no perf, or no loader"
  cat >"$run" <<EOF
#!/bin/sh
exec "$loader" --library-path "$folder/unpacked/usr/lib/x86_64-linux-gnu:$folder/unpacked/lib/x86_64-linux-gnu" "$program" "\$@"
EOF
  chmod +x "$run"
  rm -rf "$folder/apt/cache/archives"
fi
echo "$run"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches the newest kernel source that a suite of Debian has, and prints the path of its tarball:
#
#   linux/fetch-kernel.sh FOLDER [SUITE]     SUITE is trixie-backports if not given
#
# With lists of its own: neither the machine's sources nor its packages change. What is in FOLDER already is not fetched
# again; an older version goes. Exit status 3, and a sentence, where there is no network or no such package.
set -euo pipefail

[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '3,8s/^# \?//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1") suite=${2:-trixie-backports}
none() { echo "fetch-kernel: $1" >&2; exit 3; }
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || none "this machine has no apt-get and dpkg-deb to fetch a kernel's source with"
. "$(dirname "$0")/../scripts/suite.sh"
use_suites "$folder" deb "$suite"

apt-get "${apt[@]}" -qq update >"$folder/apt/log" 2>&1 || none "no list of $suite: $(first_error "$folder/apt/log")"
package=$(apt-cache "${apt[@]}" pkgnames linux-source- | sed -nE '/^linux-source-[0-9]+\.[0-9]+$/p' | sort -V | tail -1)
[ -n "$package" ] || none "$suite has no kernel's source"
version=$(apt-cache "${apt[@]}" policy "$package" | sed -n 's/^  Candidate: //p')
tarball=$folder/$package.tar.xz
if [ "$(cat "$folder/version" 2>/dev/null)" != "$package $version" ] || [ ! -e "$tarball" ]; then
  rm -rf "$folder"/linux-source-*.tar.xz "$folder/unpacked"
  (cd "$folder" && apt-get "${apt[@]}" -qq download "$package" >>"$folder/apt/log" 2>&1) || none "$package could not be fetched: $(first_error "$folder/apt/log")"
  dpkg-deb -x "$folder/$package"_*.deb "$folder/unpacked"
  mv "$folder/unpacked/usr/src/$package.tar.xz" "$tarball"
  rm -rf "$folder/unpacked" "$folder/$package"_*.deb
  echo "$package $version" >"$folder/version"
fi
echo "$tarball"

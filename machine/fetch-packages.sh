#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches what the machine is made of from a Debian mirror, and prints the path of what it has unpacked:
#
#   machine/fetch-packages.sh emulator FOLDER [SUITE]   the source of the package qemu: a directory
#   machine/fetch-packages.sh kernel FOLDER [SUITE]     the newest kernel image for clouds: its bzImage
#
# SUITE is the release that this machine runs (bookworm, say), if not given. Lists are FOLDER's own: neither the machine's sources
# nor its packages change. What is in FOLDER already is not fetched again while the suite has nothing newer, nor if there is no network.
# Exit status 2, and a sentence, where there is no such package, or no network and nothing fetched before.
set -euo pipefail

[ $# -ge 2 ] && [ $# -le 3 ] || { sed -n '3,11s/^# \?//p' "$0" >&2; exit 2; }
what=$1
none() { echo "fetch-packages: $1" >&2; exit 2; }
case $what in
  emulator) instead="'machine/pmusim-machine build --tree TREE' takes a source that is here" ;;
  kernel) instead="'machine/pmusim-machine run --kernel FILE' takes a kernel that is here" ;;
  *) none "$what: expected emulator or kernel" ;;
esac
command -v apt-get >/dev/null && command -v dpkg-source >/dev/null ||
  none "this machine has no apt-get and dpkg-source to fetch packages of Debian with; $instead"
mkdir -p "$2"
folder=$(realpath "$2")
suite=${3:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
suite=${suite:-bookworm}

. "$(dirname "$0")/../scripts/suite.sh"
use_suites "$folder" "deb deb-src" "$suite"
apt+=(-o Acquire::Languages=none)
log=$folder/apt/log
ask() { apt-cache "${apt[@]}" "$@" 2>/dev/null || true; }  # what is not there has no lines

# lists RESULT: those of the suite; without them it ends with what was fetched before.
lists() {
  apt-get "${apt[@]}" -qq update >"$log" 2>&1 && return
  [ -e "$1" ] || none "no lists of $suite: $(first_error "$log"); $instead"
  echo "fetch-packages: no lists of $suite ($(first_error "$log")), so $(basename "$1") of before" >&2
  echo "$1"
  exit 0
}

case $what in
  emulator)
    result=$folder/qemu
    lists "$result"
    version=$(ask showsrc --only-source qemu | sed -n 's/^Version: //p' | sort -V | tail -1)
    [ -n "$version" ] || none "$suite has no source package qemu at $mirror, which may have no sources; $instead"
    if [ "$(cat "$folder/version" 2>/dev/null)" != "$version" ] || [ ! -e "$result/meson.build" ]; then
      rm -rf "$folder"/qemu*
      (cd "$folder" && apt-get "${apt[@]}" -qq --download-only --only-source source "qemu=$version" >>"$log" 2>&1) ||
        none "the source of qemu $version could not be fetched: $(first_error "$log"); $instead"
      dpkg-source --no-check -x "$folder"/qemu_*.dsc "$result" >>"$log" 2>&1 || none "the source of qemu $version could not be unpacked: $(tail -1 "$log")"
      rm -f "$folder"/qemu_*
      echo "$version" >"$folder/version"
    fi ;;
  kernel)
    result=$folder/bzImage
    lists "$result"
    # Names the package, or is one that depends on it; newer releases keep the image in linux-binary-*.
    image=$(ask pkgnames linux-image- | sed -nE '/^linux-image-[0-9].*-cloud-amd64$/p' | sort -V | tail -1)
    [ -n "$image" ] || none "$suite has no linux-image-*-cloud-amd64 at $mirror; $instead"
    package=$(ask pkgnames "linux-binary-${image#linux-image-}" | sed -n 1p)
    package=${package:-$image}
    version=$(ask policy "$package" | sed -n 's/^  Candidate: //p')
    if [ "$(cat "$folder/version" 2>/dev/null)" != "$package $version" ] || [ ! -e "$result" ]; then
      rm -rf "$folder"/linux-*.deb "$folder/unpacked"
      (cd "$folder" && apt-get "${apt[@]}" -qq download "$package" >>"$log" 2>&1) || none "$package could not be fetched: $(first_error "$log"); $instead"
      # In /boot, or, of newer releases, beside the modules.
      dpkg-deb --fsys-tarfile "$folder"/linux-*.deb | tar -xO --wildcards './boot/vmlinuz-*' './usr/lib/modules/*/vmlinuz' >"$result.new" 2>>"$log" || true
      [ -s "$result.new" ] || none "$package $version has no vmlinuz"
      mv "$result.new" "$result"
      rm -f "$folder"/linux-*.deb
      echo "$package $version" >"$folder/version"
    fi ;;
esac
echo "$result"

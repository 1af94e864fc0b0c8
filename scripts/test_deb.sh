#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests the packages that scripts/deb.sh has made: lintian finds nothing in them, apt installs the command in a bare Debian 12
# that is made for it, and there README's commands print what README shows. As root; takes 600 MB of /tmp while it runs.
set -euo pipefail
cd "$(dirname "$0")/.."
fail() { echo "test_deb.sh: $*" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || fail "needs root, to make a Debian and to enter it"
compgen -G 'build/deb/pmusim_*.deb' >/dev/null || fail "no packages in build/deb: scripts/deb.sh makes them"
# What is mounted below ends with this script.
[ "${1:-}" = mounted ] || exec unshare --mount scripts/test_deb.sh mounted
scripts/packages.sh deb-test

lintian --fail-on error,warning build/deb/*.deb

root=$(mktemp -d)
trap 'umount -lq "$root/proc"; rm -rf --one-file-system "$root"' EXIT
mmdebstrap --quiet --variant=minbase bookworm "$root"
mount --rbind /proc "$root/proc"
cp build/deb/pmusim_*.deb "$root"
export DEBIAN_FRONTEND=noninteractive
chroot "$root" sh -c 'apt-get update && apt-get install -y /pmusim_*.deb' >"$root/log" 2>&1 || { cat "$root/log"; fail "apt failed"; }
tests/pages/blocks.py README.md --section "Try it" --shell "chroot $root bash"

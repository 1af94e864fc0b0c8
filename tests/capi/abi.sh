#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The interface of C against the one that was recorded, or recorded anew.
#
#   abi.sh compare|record LIBRARY BASELINE
#
# LIBRARY is made of abi_stub.awk's source, with debug information; BASELINE is tests/capi/abi.xml.
set -euo pipefail
[ $# -eq 3 ] || { sed -n '3,8s/^# \?//p' "$0" >&2; exit 2; }
case "$1" in
  record)
    abidw --no-corpus-path --no-show-locs --no-comp-dir-path --no-elf-needed --type-id-style hash \
      --out-file "$3" "$2" ;;
  compare)
    abidiff "$3" "$2" || {
      echo "The interface of C has changed. Where that is meant: raise PMUSIM_ABI_VERSION if programs have to be"
      echo "compiled again, and record it: cmake --build BUILD --target pmusim_record_abi"
      exit 1
    } ;;
  *) sed -n '3,8s/^# \?//p' "$0" >&2; exit 2 ;;
esac

#!/bin/sh
# SPDX-License-Identifier: MIT
# examples/ci/counts.sh makes a baseline, passes while the program does as much, and fails where it does more:
#
#   counts_in_ci.sh PMUSIM SOURCE WORKLOAD
set -eu
PATH=$(dirname "$1"):$PATH
counts=$2/examples/ci/counts.sh
fail() { echo "counts_in_ci.sh: $*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$counts" counts.json "$3" 5 >made || fail "no baseline"
grep -q "made counts.json" made || fail "it does not say that it made a baseline"
"$counts" counts.json "$3" 5 >same || fail "the same program is refused"
grep -q "+0.00 %" same || fail "the same program differs: $(cat same)"
"$counts" counts.json "$3" 500 >more 2>why && fail "more work passes"
grep -q "instructions:u" why || fail "it does not say which event: $(cat why)"

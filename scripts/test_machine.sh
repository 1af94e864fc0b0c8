#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The machine with the emulated PMU: built, and Debian's kernel booted on it (docs/machine.md). Where the emulator's source cannot be
# had, without network or package, a sentence, and nothing is tested: exit status 77.
#
#   scripts/test_machine.sh [PATTERN]            only tests whose line matches the pattern
#   scripts/test_machine.sh boots N [FIRST]      N boots alone, of all models in turn from number FIRST on
#
# PMUSIM_MACHINE_PARTS names a build of this project with -DPMUSIM_MACHINE=ON to take; PMUSIM_MACHINE_BUILD the machine's own directory.
set -euo pipefail
cd "$(dirname "$0")/.."
export PMUSIM_MACHINE_BUILD=${PMUSIM_MACHINE_BUILD:-$PWD/build/machine}
left_out() { echo "test_machine: left out: $1 cannot be had here" >&2; exit 77; }
scripts/packages.sh machine || left_out "packages"
tree=$(machine/fetch-packages.sh emulator "$PMUSIM_MACHINE_BUILD/source") || left_out "the emulator's source"
machine/pmusim-machine build --tree "$tree" -o "$PMUSIM_MACHINE_BUILD"
[ -e "$PMUSIM_MACHINE_BUILD/kernel/bzImage" ] || left_out "a kernel"
if [ "${1:-}" = boots ]; then exec machine/tests/run.sh "$@"; fi
# What replays traces: this project's, if it is built.
[ -x build/release/bin/pmusim ] && export PMUSIM=${PMUSIM:-$PWD/build/release/bin/pmusim}

failed=0
while IFS='|' read -r test; do
  [[ "$test" =~ ${1:-.} ]] || continue
  begun=$SECONDS
  eval "machine/tests/run.sh $test" || { echo "FAILED  $test"; failed=$((failed + 1)); continue; }
  echo "passed  $test ($((SECONDS - begun)) s)"
done <<'END'
ends
hostile
files
uncounted
cpus icelake-server
gdb skylake-x
hardware skylake-x
same skylake-x
same sapphirerapids
boot skylake-x 'PEBS fmt3\+?, Skylake events, 32-deep LBR, full-width counters, Intel PMU driver'
boot icelake-server 'PEBS fmt4\+-baseline, *(AnyThread deprecated, )?Icelake events, 32-deep LBR, full-width counters, Intel PMU driver'
count skylake-x
count icelake-server
boot sapphirerapids 'Architectural LBR, PEBS fmt4\+-baseline, +AnyThread deprecated, Sapphire Rapids events, 32-deep LBR, full-width counters, Intel PMU driver'
boot genoa 'Fam17h\+ 16-deep LBR, core perfctr, AMD PMU driver'
precise diamondrapids trixie-backports
short skylake-x
record skylake-x
trace skylake-x
trace sapphirerapids
record icelake-server
END
[ $failed = 0 ] || { echo "test_machine: $failed failed" >&2; exit 1; }

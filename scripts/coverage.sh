#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which lines and branches of src/ the tests of the modules execute: a table by module, in Markdown.
#
#   scripts/coverage.sh [MODULE...]     Runs test_MODULE (default: all but end_to_end and architecture); with MODULEs, the table
#                                       has these alone: folders of src, of tests, or of both. What is not executed is
#                                       listed, file by file, in build/coverage/missed.txt
#
# The build is the preset `coverage` (clang). End-to-end tests are not in it: they would say that code was run, not that
# somebody looks at what it did.
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in -*) sed -n '3,10s/^# \?//p' "$0" >&2; exit 2 ;; esac
version=$(clang --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
tools=/usr/lib/llvm-$version/bin
cmake --preset coverage -DPMUSIM_TESTS=ON -DPMUSIM_BENCHMARKS=OFF >/dev/null
modules=(-end_to_end -architecture) targets=()
for folder in tests/*/; do
  name=$(basename "$folder")
  case $name in end_to_end | architecture) continue ;; esac
  if compgen -G "$folder*_test.cpp" >/dev/null; then targets+=("test_$name"); fi
done
if (($#)); then
  targets=() modules=()
  for module in "$@"; do
    if [ -d "tests/$module" ]; then targets+=("test_$module") modules+=("$module"); fi
  done
fi
cmake --build --preset coverage --target "${targets[@]}"
rm -rf build/coverage/profiles
export LLVM_PROFILE_FILE=$PWD/build/coverage/profiles/%p-%m.profraw
scripts/test_modules.sh build/coverage "${modules[@]}" >&2
"$tools/llvm-profdata" merge -sparse -o build/coverage/all.profdata build/coverage/profiles/*.profraw
rm -rf build/coverage/profiles
mapfile -t programs < <(find build/coverage build/coverage/tests -maxdepth 1 -name 'test_*' -type f -executable \
  ! -name 'test_capi_*' ! -name test_end_to_end ! -name test_architecture)
"$tools/llvm-cov" export -instr-profile build/coverage/all.profdata -format=text "${programs[0]}" \
  "${programs[@]/#/-object=}" >build/coverage/coverage.json
scripts/coverage_table.py build/coverage/coverage.json build/coverage/missed.txt build/coverage/table.json "$@"

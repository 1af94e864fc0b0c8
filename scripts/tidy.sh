#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# clang-tidy over all sources and tests, those changed last first, but for those that passed before and have not changed
# since, nor a header of theirs.
#
#   scripts/tidy.sh [FILE...]     with the compile commands of build/clang (cmake --preset clang); TIDY_CACHE says
#                                 where it remembers (default ~/.cache/pmusim-tidy), TIDY_SECONDS when to begin no
#                                 further file (default: never); the next run goes on with those that are left
set -euo pipefail
cd "$(dirname "$0")/.."
case "${1:-}" in -*) sed -n '3,8s/^# \?//p' "$0" >&2; exit 2 ;; esac
export cache="${TIDY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pmusim-tidy}"
mkdir -p "$cache"
export last_start=$((EPOCHSECONDS + ${TIDY_SECONDS:-1000000}))
rules=$(cat .clang-tidy tests/.clang-tidy CMakePresets.json <(clang-tidy --version) | sha256sum)
export rules

# The text that the compiler sees, comments and all: NOLINT is one of them. Nothing for a file that includes what
# the build makes.
content() { clang++ -E -P -C -std=c++20 -Iinclude -Isrc -I. "$1" 2>/dev/null; }
# Preprocessing everything takes a while as well. Of a file that passed the bytes of all that it includes from here are
# remembered, and for the rest the packages that are installed.
packages=$(dpkg-query -W 2>/dev/null | sha256sum || true)
export packages
summary() { printf '%s/%s\n' "$cache" "${1//\//%}"; }
is_as_it_passed() {
  local summary
  summary=$(summary "$1")
  [ -e "$summary" ] && [ "$(head -n 1 "$summary")" = "$rules $packages" ] && tail -n +2 "$summary" | sha256sum --status -c
}
remember() {
  { printf '%s %s\n' "$rules" "$packages"
    clang++ -MM -std=c++20 -Iinclude -Isrc -I. "$1" | tr -d '\\' | tr ' ' '\n' | grep -v -e ':$' -e '^$' | xargs sha256sum
  } >"$(summary "$1")"
}
tidy() {
  local text key=
  is_as_it_passed "$1" && return
  [ "$EPOCHSECONDS" -lt "$last_start" ] || { echo "not looked at: $1"; return; }
  if text=$(content "$1"); then key=$(printf '%s\n%s\n%s' "$rules" "$1" "$text" | sha256sum | cut -d ' ' -f 1); fi
  [ -n "$key" ] && [ -e "$cache/$key" ] && { remember "$1"; return; }
  clang-tidy --quiet -p build/clang "$1" 2>/dev/null || return
  [ -z "$key" ] || { touch "$cache/$key"; remember "$1"; }
}
export -f content summary is_as_it_passed remember tidy
if [ $# -eq 0 ]; then
  mapfile -t files < <(git ls-files 'src/*.cpp' 'tools/*.cpp' 'tests/*.cpp' ':!*_fuzz.cpp' ':!tests/*/programs/*' \
    ':!tests/end_to_end/ordinary/*' ':!tests/fuzz/*' | scripts/newest_first.py)
  set -- "${files[@]}"
fi
printf '%s\n' "$@" | xargs -P "$(nproc)" -I FILE bash -c 'tidy FILE'

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records real programs under the fast recorder, replays them, and lets perf name what it finds: gzip, a C compiler,
# python3, sqlite3 and xz with three threads, those that are installed. Prints a table of rates and sizes.
#
#   scripts/real_programs.sh [PMUSIM [SCALE [REPEATS]]]
#
# PMUSIM is the command to use (default: the one in build/release, or in PATH); SCALE is per cent of the usual work
# (default 100: 5 MB for gzip, 1 MB for xz, 2000 lines of C); REPEATS is how often each is recorded (default 3).
#
# A rate is instructions per second of CPU time, of qemu and the recorder together, the best of the recordings: elapsed
# time would tell about the machine's other work. "Of qemu" is that CPU time over qemu's own without a plugin.
set -euo pipefail
case "${1:-}" in -*) sed -n '3,12s/^# \?//p' "$0" >&2; exit 2 ;; esac
here=$(cd "$(dirname "$0")/.." && pwd)
pmusim=${1:-$here/build/release/bin/pmusim}
pmusim=$(realpath "$(command -v "$pmusim" || command -v pmusim)")
scale=${2:-100} repeats=${3:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Debian's gzip is stripped, and its names are in no archive that every machine has: one of the same source with them.
# Where the source cannot be had, gzip is the installed one, of which perf knows the C library's names alone.
gzip_with_symbols() {
  local apt=(-o "Dir::Etc::sourcelist=$work/source/list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/source/lists"
    -o "Dir::Cache=$work/source/cache" -o APT::Sandbox::User="$(id -un)")
  mkdir -p bin source/lists/partial source/cache/archives/partial
  echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "${VERSION_CODENAME:-stable}") main" >source/list
  (cd source && apt-get -qq "${apt[@]}" update && apt-get -qq "${apt[@]}" source --download-only gzip &&
    tar xf gzip_*.orig.tar.?z && cd gzip-*/ && ./configure --quiet CFLAGS='-O2 -g' && make -s && cp gzip ../../bin/) >log 2>&1 ||
    { echo "no source of gzip, so its own functions have no names: $(tail -n 1 log)" >&2; return; }
  PATH="$work/bin:$PATH"
}

# Best CPU time of several runs, in seconds.
cpu_seconds() {
  local TIMEFORMAT='%U %S' n
  for n in $(seq "$repeats"); do
    { time "$@" >/dev/null 2>log <fill.sql || { cat log >&3; exit 1; }; } 2>&1
  done 3>&2 | awk '{ t = $1 + $2; if (NR == 1 || t < best) best = t } END { print best }'
}
ratio() { awk -v a="$1" -v b="$2" -v format="$3" 'BEGIN { printf format, a / (b > 0 ? b : 0.01) }'; }
instructions() { "$pmusim" trace info --json "$1" | awk -F'[:,]' '/^  "instructions"/ { print $2 + 0 }'; }

# What perf reads in a profile of the last 50 M instructions: the hottest function of each file that it has a name for.
hottest() { # TRACE INSTRUCTIONS
  "$pmusim" record -q -b --from $(($2 > 50000000 ? $2 - 50000000 : 0)) -o perf.data "$1"
  perf report -i perf.data --no-children --sort dso,sym --stdio -q 2>/dev/null |
    awk '$2 != "" && $NF !~ /^0x/ && $1 ~ /%$/ { print $2 " " $NF }' | awk '!seen[$1]++ && ++shown <= 3' | paste -sd ';' | sed 's/;/; /g'
}

row() { # NAME COMMAND...
  local name=$1 plain with without program
  shift
  program=$(command -v "$1") || { printf '| `%s` | not installed |\n' "$name"; return; }
  shift
  plain=$(cpu_seconds qemu-x86_64 "$program" "$@")
  with=$(cpu_seconds "$pmusim" trace record --fast -o addresses "$program" "$@")
  without=$(cpu_seconds "$pmusim" trace record --fast --no-addresses -o flow "$program" "$@")
  local count
  count=$(instructions addresses)
  printf '| `%s` | %s M | %s M | %s | %s M | %s | %s, %s | %s |\n' "$name" "$(ratio "$count" 1e6 %.0f)" \
    "$(ratio "$count" "${with}e6" %.1f)" "$(ratio "$(stat -c %s addresses)" "$count" %.3f)" \
    "$(ratio "$(instructions flow)" "${without}e6" %.1f)" "$(ratio "$(stat -c %s flow)" "$(instructions flow)" %.3f)" \
    "$(ratio "$with" "$plain" %.1f)" "$(ratio "$without" "$plain" %.1f)" "$(hottest addresses "$count")"
}

"$here/scripts/program_inputs.py" . "$scale"
gzip_with_symbols
compiler=$(gcc -print-prog-name=cc1 2>/dev/null || echo cc1)
echo '| Program | Instructions | Rate | Bytes per instruction | Rate without | Bytes without | Of qemu | perf report |'
echo '|---|---|---|---|---|---|---|---|'
row 'gzip -kf text' gzip -kf text
row "cc1 source.c, $(wc -l <source.c) lines" "$compiler" -quiet source.c -o /dev/null
row 'python3 -S bench.py' /usr/bin/python3 -S bench.py
row 'sqlite3 :memory: <fill.sql' sqlite3 :memory:
row 'xz -T2 -1 --block-size=300KiB -kf part' xz -T2 -1 --block-size=300KiB -kf part

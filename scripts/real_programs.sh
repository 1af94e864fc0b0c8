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

# The same words on every machine.
words() { # BYTES
  awk -v bytes="$1" 'BEGIN {
    seed = 1
    for (n = 0; n < 4096; ++n) {
      seed = (seed * 69069 + 1) % 4294967296
      word = ""
      for (left = int(seed / 65536); length(word) < 3 + n % 7; left = int(left / 3) + n)
        word = word sprintf("%c", 97 + left % 26)
      list[n] = word
    }
    for (written = 0; written < bytes; written += length(word) + 1) {
      seed = (seed * 69069 + 1) % 4294967296
      word = list[int(seed / 1048576)]
      printf "%s%s", word, written % 11 == 0 ? "\n" : " "
    }
  }'
}
c_source() { # FUNCTIONS of ten lines
  for n in $(seq "$1"); do
    printf 'static unsigned mix%d(unsigned a, unsigned b) {\n  unsigned table[8] = {a, b, a ^ b, a + b, %d, 3, 5, 7};\n' "$n" "$n"
    printf '  for (unsigned n = 0; n < 64; ++n) {\n    const unsigned x = table[n %% 8], y = table[(n + a) %% 8];\n'
    printf '    if (x > y) table[(n + 1) %% 8] += x / (y + 1);\n    else table[(n + 3) %% 8] ^= (x << 3) | (y >> 5);\n'
    printf '  }\n  return table[a %% 8] + table[b %% 8];\n}\n\n'
  done
  printf 'unsigned all(unsigned a) {\n'
  for n in $(seq "$1"); do printf '  a = mix%d(a, %d);\n' "$n" "$n"; done
  printf '  return a;\n}\n'
}
inputs() {
  words $((50000 * scale)) >text
  head -c $((10000 * scale)) text >part
  c_source $((2 * scale > 1 ? 2 * scale : 1)) >source.c
  cat >bench.py <<END
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
words = {}
for n in range(600 * $scale): words[str(n % 997)] = words.get(str(n % 997), 0) + n
print(fib(20), sorted(words.items(), key=lambda item: -item[1])[:3])
for _ in range($scale // 20): fib(17)
END
  { echo 'create table t(id integer primary key, name text, value real);'
    echo 'begin;'
    echo "with recursive n(i) as (select 1 union all select i + 1 from n where i < $((200 * scale)))"
    echo "insert into t select i, 'name ' || (i * 7919 % 10007), i / 3.0 from n;"
    echo 'commit; create index by_name on t(name); select count(*), sum(value) from t where name like "name 1%";'
  } >fill.sql
}

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

inputs
gzip_with_symbols
compiler=$(gcc -print-prog-name=cc1 2>/dev/null || echo cc1)
echo '| Program | Instructions | Rate | Bytes per instruction | Rate without | Bytes without | Of qemu | perf report |'
echo '|---|---|---|---|---|---|---|---|'
row 'gzip -kf text' gzip -kf text
row "cc1 source.c, $(wc -l <source.c) lines" "$compiler" -quiet source.c -o /dev/null
row 'python3 -S bench.py' /usr/bin/python3 -S bench.py
row 'sqlite3 :memory: <fill.sql' sqlite3 :memory:
row 'xz -T2 -1 --block-size=300KiB -kf part' xz -T2 -1 --block-size=300KiB -kf part

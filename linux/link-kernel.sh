#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Joins what build-kernel.sh has compiled in FOLDER to one object:
#
#   linux/link-kernel.sh FOLDER KERNEL.o [OBJECT=OTHER.o]
#
# OBJECT, as it stands in FOLDER/objects, is left out for another one.
set -euo pipefail

[ $# -ge 2 ] || { sed -n '3,7s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
result=$(realpath -m "$2")
cd "$1"
work=$result.parts
replaced=${3:-=}
rm -rf "$work"
mkdir -p "$work"

# Static in their files: the initcalls that find PMUs, and the table of those that are registered.
globals=(init_hw_perf_events fixup_ht_bug amd_ibs_init pmu_idr)
kernel=()
while read -r object; do
  [ "$object" != "${replaced%%=*}" ] || object=${replaced#*=}
  case "$object" in */events/*)
    objcopy "${globals[@]/#/--globalize-symbol=}" "$object" "$work/${#kernel[@]}.o"
    object=$work/${#kernel[@]}.o ;;
  esac
  kernel+=("$object")
done <objects

ld -r -z noexecstack -T "$here/kernel.lds" -o "$work/linked.o" "${kernel[@]}" glue_*.o

# What nobody gives becomes a function that says its name. The C library has the rest.
libc=' memcmp memmove memcpy memset strchr strcmp strcpy strlen strsep snprintf sprintf vsnprintf '
{
  nm -u "$work/linked.o" | awk '{print $2}' | while read -r name; do
    case "$name" in host_* | __start_* | __stop_* | BUG_func) continue ;; esac
    case "$libc" in *" $name "*) continue ;; esac
    printf '.globl %s\n%s: lea 1f(%%rip), %%rdi\n and $-16, %%rsp\n call host_missing\n ud2\n1: .asciz "%s"\n' "$name" "$name" "$name"
  done
  echo '.section .note.GNU-stack,"",@progbits'
} >"$work/missing.s"
gcc -c -o "$work/missing.o" "$work/missing.s"
ld -r -z noexecstack -T "$here/kernel.lds" -o "$work/whole.o" "$work/linked.o" "$work/missing.o"
objcopy --wildcard --keep-global-symbol='linux_*' "$work/whole.o" "$work/kernel.o"
mv "$work/kernel.o" "$result"
rm -rf "$work"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the PMU part of a kernel an object to link with:
#
#   linux/build-kernel.sh TREE OUT
#
# TREE is a kernel's source, a directory or a tarball (such as those of Debian's linux-source packages); OUT a
# directory, in which kernel.o appears. Nothing is written into TREE. A second run builds what has changed.
set -euo pipefail

[ $# -eq 2 ] || { sed -n '3,8s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
[ -e "$1" ] || { echo "build-kernel: $1: no such directory or tarball; Debian's package linux-source-6.12 has one" >&2; exit 2; }
tree=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
log=$out/build.log
jobs=${JOBS:-$(nproc)}

run() {  # shows what failed, and nothing else
  "$@" >>"$log" 2>&1 || { grep -E 'rror|\*\*\*' "$log" | sed -n 1,5p >&2; echo "build-kernel: failed; $log says all" >&2; exit 1; }
}
: >"$log"

if [ -f "$tree" ]; then  # of a tarball, what the configuration and these objects need
  if [ ! -e "$out/source/Makefile" ]; then
    rm -rf "$out/source"
    mkdir -p "$out/source"
    run tar -xf "$tree" -C "$out/source" --strip-components=1 --wildcards \
      --exclude='*/Documentation/*.rst' --exclude='*/Documentation/*.txt' --exclude='*/Documentation/*.yaml' \
      --exclude='*/drivers/*.[ch]' --exclude='*/sound/*.[ch]' --exclude='*/fs/*.c' --exclude='*/net/*.c' \
      --exclude='*/arch/[a-tv-w]*/*.[chS]' --exclude='*/tools/testing/*' --exclude='*/boot/dts/*'
  fi
  tree=$out/source
fi
[ -e "$tree/kernel/events/core.c" ] || { echo "build-kernel: $tree: not a kernel's source: it has no kernel/events/core.c" >&2; exit 2; }

# ccache, say, as for the rest of the build.
launcher=${CMAKE_CXX_COMPILER_LAUNCHER:-}
# objtool would be built to write tables for unwinding and for patching code at boot, of which nothing happens here.
make=(make -C "$tree" "O=$out/kbuild" ARCH=x86_64 CONFIG_OBJTOOL= "CC=${launcher:+$launcher }gcc" "-j$jobs" --no-print-directory)
mkdir -p "$out/kbuild"

# Paravirtualisation of everything turns privileged instructions into calls; the rest makes the kernel small.
if ! cmp -s "$here/kernel.config" "$out/kernel.config"; then
  run "${make[@]}" tinyconfig
  cat "$here/kernel.config" >>"$out/kbuild/.config"
  run "${make[@]}" olddefconfig
  run "${make[@]}" prepare
  cp "$here/kernel.config" "$out/kernel.config"
fi
mkdir -p "$out/kbuild/arch/x86/lib"
awk -f "$tree/arch/x86/tools/gen-insn-attr-x86.awk" "$tree/arch/x86/lib/x86-opcode-map.txt" >"$out/kbuild/arch/x86/lib/inat-tables.c"

objects=(arch/x86/events/{core,probe,utils}.o arch/x86/events/intel/{core,ds,lbr,bts,p6}.o
  arch/x86/events/amd/{core,lbr,brs,ibs}.o
  kernel/events/{core,ring_buffer,callchain,hw_breakpoint}.o
  arch/x86/kernel/{perf_regs,cpu/match}.o arch/x86/lib/{hweight,insn,inat,cpu,msr-smp}.o
  lib/{rbtree,bitmap,find_bit,idr,radix-tree,xarray,list_sort,llist}.o kernel/irq_work.o kernel/locking/spinlock.o)
flags="-g -mpreferred-stack-boundary=4 -include $here/glue/forced.h -I$out/kbuild/arch/x86/lib"
present=()
for object in "${objects[@]}"; do
  [ -e "$tree/${object%.o}.c" ] || [ -e "$tree/${object%.o}.S" ] || continue  # some came with later releases
  present+=("$object")
done
run "${make[@]}" "KCFLAGS=$flags" "${present[@]}"

# The glue is compiled as the kernel's own files are.
compile=$(sed -n 's/^\(savedcmd\|cmd\)_[^ ]* := \(.*gcc .*\) -c -o .*/\2/p' "$out/kbuild/kernel/events/.core.o.cmd" | sed 's/-Wp,-MMD,[^ ]*//;s/-W[a-z][^ ]*//g')
[ -n "$compile" ] || { echo "build-kernel: $out/kbuild/kernel/events/.core.o.cmd does not say how the kernel compiles" >&2; exit 1; }
cd "$out/kbuild"
glue=()
for source in "$here"/glue/*.c; do
  object=$out/glue_$(basename "${source%.c}").o
  run bash -c "$compile -Wall -Wno-unused -Wno-address -I'$here/glue' -I'$tree/arch/x86/events' -I'$tree/kernel/events' -c -o '$object' '$source'"
  glue+=("$object")
done
cd "$out"

printf '%s\n' "${present[@]/#/kbuild/}" >objects
printf '%s\n' "$compile" >compile
run "$here/link-kernel.sh" "$out" "$out/kernel.o"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the machine of pmusim-machine in a directory: an emulator of whole systems (QEMU) whose CPUs have the emulated PMU.
#
#   machine/build.sh TREE OUT PARTS
#
# TREE is the emulator's source, as machine/fetch-packages.sh gets it; nothing is written into it. PARTS is a directory in
# which the target pmusim_machine_parts of this project was built. A second run builds what has changed. Exit status 2, and a sentence,
# where the source is of a release that the glue is not made for, or lacks a function that it is linked to.
set -euo pipefail

[ $# -eq 3 ] || { sed -n '3,10s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
refuse() { echo "build: $1" >&2; exit 2; }
supported=7.2
# Functions of the emulator that lead to the glue: called by its generated code through a table, or from other objects than their own.
wrapped=(helper_rdmsr helper_wrmsr helper_rdpmc cpu_x86_cpuid memory_region_init_io tlb_flush tlb_flush_page translator_loop tcg_region_reset_all
  x86_cpu_do_interrupt do_interrupt_x86_hardirq helper_outl helper_pause
  icount_prepare_for_run)

[ -e "$1/target/i386/cpu.h" ] || refuse "$1: not the source of QEMU: it has no target/i386/cpu.h"
tree=$(realpath "$1")
version=$(cat "$tree/VERSION" 2>/dev/null || echo "without a file VERSION")
case $version in
  $supported | $supported.*) ;;
  *) refuse "$tree is QEMU $version: the glue is made for $supported, Debian 12's" ;;
esac
mkdir -p "$2"
out=$(realpath "$2") parts=$(realpath "$3")
log=$out/build.log
emulator=$out/emulator
jobs=${JOBS:-$(nproc)}
: >"$log"

run() {  # shows what failed, and nothing else
  "$@" >>"$log" 2>&1 || { grep -E 'rror|FAILED' "$log" | sed -n 1,5p >&2; echo "build: failed; $log says all" >&2; exit 1; }
}

# compile_cheaply: most of the emulator is at work while it starts, or never. All but what translates and executes code, and what stands beside
# it, is compiled without optimisation, and the header that each file begins with once for each set of options.
compile_cheaply() {
  awk -v header="$tree/include/qemu/osdep.h" '
    /^build [^ ]+\.o: c_COMPILER / { step = $0; rest = ""; next }
    step != "" && /^ ARGS = / {
      split(step, word, " ")
      if (word[2] !~ /\/(tcg|accel|target|fpu|softmmu|util|cpus-common|qom|hw_(core_cpu|i386|intc|timer))/) {
        sub(/ -O2 /, " -O0 ")
        sub(/ -D_FORTIFY_SOURCE=2 /, " ")
      }
      folder = "header" (/ -O2 / ? "" : "-cold") (/ -DNEED_CPU_H / ? "-target" : "")
      if (!(folder in options)) options[folder] = substr($0, 9)
      sub(/ \|\| /, " | " folder "/qemu/osdep.h.gch || ", step)
      print step rest "\n ARGS = -iquote " folder substr($0, 8)
      step = ""
      next
    }
    step != "" { rest = rest "\n" $0; next }
    { print }
    END {
      for (folder in options) {
        name = folder "/qemu/osdep.h"
        system("mkdir -p " folder "/qemu")
        printf "#include \"%s\"\n", header >name
        printf "build %s.gch: c_COMPILER %s\n DEPFILE = %s.d\n DEPFILE_UNQUOTED = %s.d\n ARGS = %s -x c-header\n", name, name, name, name, options[folder]
      }
    }' build.ninja >cheap.ninja
  mv cheap.ninja build.ninja
}

# ---- the emulator, as it is ----
launcher=${CMAKE_CXX_COMPILER_LAUNCHER:-}
mkdir -p "$emulator"
cd "$emulator"
if [ ! -e build.ninja ]; then
  # A list of devices is named by its place beside the emulator's own.
  devices=$(realpath --relative-to="$tree/configs/devices/x86_64-softmmu" "$here/devices")
  run env "CC=${launcher:+$launcher }gcc" "$tree/configure" --target-list=x86_64-softmmu --without-default-features --without-default-devices \
    "--with-devices-x86_64=$devices" --enable-tcg --enable-fdt=system --disable-user --disable-tools --disable-docs --disable-guest-agent \
    --with-git-submodules=ignore --disable-werror --disable-stack-protector --disable-pie --disable-plugins --disable-qom-cast-debug --enable-trace-backends=nop \
    --disable-install-blobs --extra-cflags=-g0 --extra-ldflags=-no-pie
  compile_cheaply
fi
# Progress on a terminal; the log has it all.
if [ -t 2 ]; then
  ninja "-j$jobs" qemu-system-x86_64 2>&1 | tee -a "$log" | { grep --line-buffered -oE '^\[[0-9]+/[0-9]+\]' || true; } |
    while read -r step; do printf '\rbuild: the emulator %s ' "$step" >&2; done
  printf '\n' >&2
else
  run ninja "-j$jobs" qemu-system-x86_64
fi
[ -x qemu-system-x86_64 ] || { echo "build: failed; $log says all" >&2; exit 1; }

# A wrap holds only where such a function is in one object and asked for by another.
ninja -t commands qemu-system-x86_64 | tail -1 >"$out/link"
grep -oE '[^ ]+\.o( |$)' "$out/link" | xargs nm -A 2>/dev/null | awk '$(NF-1) ~ /^[TU]$/ {print $(NF-1), $NF}' | sort -u >"$out/names"
for name in "${wrapped[@]}"; do
  grep -qx "T $name" "$out/names" && grep -qx "U $name" "$out/names" ||
    refuse "$tree has no function $name that another of its files calls: the glue cannot be linked with this source"
done

# ---- the glue, compiled as the emulator's own files are ----
compile_of() {  # FILE: how the emulator compiles it, without file and object
  python3 - "$emulator/compile_commands.json" "$1" <<'END'
import json, sys
for entry in json.load(open(sys.argv[1])):
    if entry["file"].endswith(sys.argv[2]):
        print(entry["command"][:entry["command"].index(" -MD ")])
END
}
glue_flags="-iquote '$here/glue/include' -I'$here' -I'$here/glue' -Wno-missing-prototypes -Wno-redundant-decls"
compile() {  # SOURCE LIKE: the object of SOURCE, compiled like the emulator's file LIKE, with the glue's headers
  local command object
  command=$(compile_of "$2")
  object=$out/$(basename "${1%.c}").o
  [ -n "$command" ] || refuse "$emulator/compile_commands.json does not say how $2 is compiled"
  run bash -c "${command/ -iquote / $glue_flags -iquote } -o '$object' -c '$1'"
  glue+=("$object")
}
glue=()
for source in "$here"/glue/*.c; do compile "$source" target/i386/tcg/sysemu/misc_helper.c; done
# The table of functions that generated code calls has the glue's in it, if it is compiled with the glue's headers.
compile "$tree/tcg/tcg.c" /tcg/tcg.c

# ---- the machine: the emulator's own link, with these objects ----
link=$(cat "$out/link")
table=$(grep -oE '[^ ]+/tcg_tcg\.c\.o' "$out/link") || refuse "$tree is not linked of objects that can be told apart"
link=${link/ $table / }
link=${link/ -o qemu-system-x86_64 / -o \'$out/pmusim-machine-emulator\' }
run bash -c "$link $(printf -- ' -Wl,--wrap=%s' "${wrapped[@]}") $(printf " '%s'" "${glue[@]}") \
  '$parts/machine/libpmusim_machine_pmu.a' '$parts/libpmusim_trace.a' '$parts/libpmusim_x86.a' '$parts/libpmusim_hardware.a' -lZydis -lfmt -lzstd -lelf -lstdc++"

# ---- firmware: Debian's BIOS, and the emulator's own ROMs that load a kernel ----
mkdir -p "$out/firmware" "$out/roms"
printf '%s\n' "TOPSRC_DIR=$tree" CC=gcc OBJCOPY=objcopy PYTHON=python3 >"$out/roms/config.mak"
run make -C "$out/roms" -f "$tree/pc-bios/optionrom/Makefile" linuxboot_dma.bin kvmvapic.bin
cp "$out/roms/linuxboot_dma.bin" "$out/roms/kvmvapic.bin" "$out/firmware/"
[ -e /usr/share/seabios/bios-256k.bin ] || refuse "no /usr/share/seabios/bios-256k.bin: Debian's package seabios has it"
cp /usr/share/seabios/bios-256k.bin "$out/firmware/"
# ---- the programs of this project; one that runs is no hindrance ----
cp -f "$parts/machine/pmusim-machine" "$out/pmusim-machine"
cp -f "$parts/machine/pmusim_machine_init" "$out/init"
rm -rf "$out/roms" "$out/names" "$out/link"
echo "$version" >"$out/version"

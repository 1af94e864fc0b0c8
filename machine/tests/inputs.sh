#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Tests of what surrounds the emulator, with none: fake programs of Debian's, and a script in the emulator's place.
#
#   inputs.sh fetch           no network, no sources, no package: a sentence each that says what to do, exit status 2
#   inputs.sh build           a tree that is none, or another release's
#   inputs.sh run PROGRAM     options, kernels and memory that cannot be; PROGRAM is this project's pmusim-machine
#   inputs.sh guest PROGRAM   a guest that hands out what it should not
#   inputs.sh ends PROGRAM    panics, signals, time, full disks: a sentence, no process and no file is left
set -euo pipefail
[ $# -ge 1 ] || { sed -n '3,9s/^# \?//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")/.." && pwd)
what=$1 program=$(realpath -m "${2:-.}")
fail() { echo "$*" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir fakes temporary
export TMPDIR=$scratch/temporary LC_ALL=C

# fake NAME: a program of that name, by standard input.
fake() { { echo '#!/bin/sh'; cat; } >"fakes/$1" && chmod +x "fakes/$1"; }
# refuses SENTENCE COMMAND...: exit status 2, and one line on standard error that matches.
refuses() {
  local status=0
  "${@:2}" >out 2>err || status=$?
  [ $status = 2 ] && grep -qE -e "$1" err && [ "$(wc -l <err)" = 1 ] || fail "${*:2}: exit status $status, $(cat err); expected 2, $1"
}

# ---- apt-get and its like, which do what `fakes/state` says ----
fake_debian() {
  fake apt-get <<'END'
case "$(cat "$(dirname "$0")/state") $*" in
  offline*" update") echo "E: Failed to fetch http://mirror/InRelease  Could not resolve 'mirror'
E: Some index files failed to download." >&2; exit 100 ;;
  lost*" source "* | lost*" download "*) echo "E: Failed to fetch http://mirror/pool/x  404  Not Found" >&2; exit 100 ;;
  *" source "*) : >qemu_7.2.dsc ;;
  *" download "*) : >linux-image.deb ;;
esac
END
  fake apt-cache <<'END'
case "$(cat "$(dirname "$0")/state") $*" in
  empty*) exit 100 ;;
  *" showsrc "*) echo "Version: 1:7.2+dfsg-7" ;;
  *" pkgnames linux-image-") echo linux-image-6.1.0-1-cloud-amd64 ;;
  *" policy "*) echo "  Candidate: 6.1" ;;
esac
END
  fake dpkg-source <<'END'
for folder; do :; done
mkdir "$folder" && : >"$folder/meson.build"
END
  fake dpkg-deb <<'END'
mkdir -p boot && echo kernel >boot/vmlinuz-6.1 && tar -c ./boot/vmlinuz-6.1
END
}
fetch() { PATH=$scratch/fakes:$PATH "$here/fetch-packages.sh" "$@"; }

# ---- a machine whose emulator is a script: `machine/guest` is what it does ----
fake_machine() {
  mkdir -p machine/kernel
  : >machine/init
  kernel 0x20C 1 >machine/kernel/bzImage
  cat >machine/pmusim-machine-emulator <<'END'
#!/bin/bash
PATH=/usr/bin:/bin
# frame KIND TEXT: what the guest hands out (guest/channel.h).
number() { printf "\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8 & 255)))\\x$(printf %02x $(($1 >> 16 & 255)))\\x$(printf %02x $(($1 >> 24)))"; }
frame() { { printf %s "$1"; number "$(printf "$2" | wc -c)"; printf "$2"; } >&3; }
file() { frame F '\xa4\x01\x00\x00'"$1"; frame D "$2"; frame d ''; }
exited() { frame Z "\\x$(printf %02x "$1")\\x00\\x00\\x00"; }
say() {  # to the console
  while [ "$1" != -serial ]; do shift; done
  printf '%s\n' "Kernel panic - not syncing: $PMUSIM_MACHINE_MODEL" >"${2#file:}"
}
. "$(dirname "$0")/guest"
END
  chmod +x machine/pmusim-machine-emulator
  # Not more of this machine than that: the guest's root is small.
  printf 'echo sh\n' >fakes/busybox && chmod +x fakes/busybox
}
# kernel VERSION FLAGS: the head of a bzImage of that boot protocol, with those load flags.
kernel() {
  head -c 514 /dev/zero
  printf "HdrS\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8)))"
  head -c 46 /dev/zero
  printf "\\x0$2\\0"
}
environment=(env "PATH=$scratch/fakes" "PMUSIM_MACHINE_BUILD=$scratch/machine")
machine() { "${environment[@]}" "$program" run "$@"; }
runs() {  # SENTENCE OPTION...
  refuses "$1" machine "${@:2}" -- true
}
# ended STATUS SENTENCE COMMAND...: no process and no file is left behind.
ended() {
  local status=0
  "${@:3}" >out 2>err || status=$?
  [ $status = "$1" ] && grep -qE "$2" err || fail "${*:3}: exit status $status, $(cat out err); expected $1, $2"
  nothing_left "${*:3}"
}
nothing_left() {
  [ -z "$(ls -A temporary)" ] || fail "$1 leaves $(ls temporary)"
  ! ls ./*.unfinished 2>/dev/null || fail "$1 leaves unfinished files"
}

case "$what" in
  fetch)
    fake_debian
    for thing in emulator kernel; do
      instead=$([ $thing = emulator ] && echo "build --tree TREE' takes a source" || echo "run --kernel FILE' takes a kernel")
      echo offline >fakes/state
      refuses "^fetch-packages: no lists of forky: Failed to fetch http://mirror/InRelease  Could not resolve 'mirror'; .*$instead" fetch $thing $thing forky
      echo empty >fakes/state
      refuses "^fetch-packages: forky has no .*; .*$instead" fetch $thing $thing forky
      echo lost >fakes/state
      refuses "^fetch-packages: .* could not be fetched: Failed to fetch http://mirror/pool/x  404  Not Found; .*$instead" fetch $thing $thing forky
      echo well >fakes/state
      result=$(fetch $thing $thing forky) || fail "$thing: not fetched"
      [ -e "$result" ] || fail "$thing: $result is not there"
      # What is there is taken when there is no network.
      echo offline >fakes/state
      [ "$(fetch $thing $thing forky 2>err)" = "$result" ] && grep -q 'no lists of forky .*, so .* of before' err || fail "$thing: $(cat err)"
      mkdir -p bare
      for tool in bash dirname env; do ln -sf "$(command -v $tool)" bare/; done
      refuses "^fetch-packages: this machine has no apt-get and dpkg-source.*$instead" env PATH="$scratch/bare" "$here/fetch-packages.sh" $thing none
    done
    refuses 'fetch-packages: machine: expected emulator or kernel' fetch machine folder
    # Debian's own, by a proxy that refuses: without lists it has nothing to look into.
    apt_get=$(type -P apt-get) && type -P dpkg-source >/dev/null || exit 0
    rm fakes/*
    fake apt-get <<<"exec $apt_get -o Acquire::http::Proxy=http://127.0.0.1:9 -o Acquire::https::Proxy=http://127.0.0.1:9 \"\$@\""
    refuses '^fetch-packages: no lists of bookworm: Failed to fetch .*Could not connect' fetch emulator real bookworm ;;
  build)
    build() { "$here/build.sh" "$1" out parts; }
    refuses '^build: nowhere: not the source of QEMU: it has no target/i386/cpu.h$' build nowhere
    mkdir -p tree/target/i386
    : >tree/target/i386/cpu.h
    refuses "^build: $scratch/tree is QEMU without a file VERSION: the glue is made for 7.2, Debian 12's$" build tree
    echo 10.0.2 >tree/VERSION
    refuses "^build: $scratch/tree is QEMU 10.0.2: the glue is made for 7.2, Debian 12's$" build tree
    refuses "^pmusim-machine build: --fast: expected --tree TREE or -o BUILD$" "$here/pmusim-machine" build --fast
    PMUSIM_MACHINE_BUILD=$scratch/nowhere refuses "^pmusim-machine: $scratch/nowhere/pmusim-machine is not there; 'pmusim-machine build' makes it$" \
      "$here/pmusim-machine" run -- true
    # Packages that are missing, and no network to get them from.
    fake dpkg-query <<<'echo unknown'
    fake sudo <<<'exec "$@"'
    fake apt-get <<<'echo "E: Unable to fetch some archives" >&2; exit 100'
    status=0
    PATH=$scratch/fakes:$PATH "$here/pmusim-machine" build -o built >out 2>err || status=$?
    [ $status = 2 ] && grep -q '^packages: cannot be installed, by what apt-get says above: .*seabios' err || fail "packages: exit status $status, $(cat err)" ;;
  run)
    fake_machine
    runs "unknown CPU model 'nonesuch'" --model nonesuch
    echo none >none
    runs 'none: not a bzImage of Linux for x86: there is no "HdrS" at offset 202H' --kernel none
    runs 'missing: cannot be read; expected a kernel \(bzImage\)' --kernel missing
    kernel 0x20C 0 >small
    runs 'small: a kernel of 32 bits; expected one of 64 \(x86_64\)' --kernel small
    kernel 0x20B 1 >old
    runs 'old: a kernel of 32 bits; expected one of 64' --kernel old
    runs 'memory 20: too little for this root; expected 128 at least' --memory 20
    runs '--memory' --memory 8
    runs '--cpus' --cpus 0
    runs '--cpus' --cpus 9
    runs 'missing: no such file or folder' --file missing
    long=$(printf 'y%.0s' {1..256})  # as no file can be called
    runs "$long: no such file or folder" --file "$long"
    refuses 'memory 20: too little for this root' machine --memory 20 -- true "$long"
    runs 'missing: no such folder; expected one for the files that the command writes' -o missing
    runs 'record missing/T: no folder that can be written to; expected one for the file' --record missing/T
    runs 'console missing/C: no folder that can be written to; expected one for the file' --console missing/C
    for option in hw-log hw-timeline; do
      runs "$option missing/F: no folder that can be written to; expected one for the file" --$option missing/F
      runs "$option -: each CPU has a file of its own; expected the name of one" --$option - --cpus 2
    done
    runs 'hw-log F: another option names the same file; expected one for each' --hw-log F --hw-timeline F
    runs 'record: is of one CPU; leave --cpus out' --record T --cpus 2
    runs 'regs: is of a trace; expected --record FILE' --regs gpr
    runs 'regs.*xmm.*gpr' --record T --regs xmm
    for port in 0 65536 99999999999; do runs "gdb $port: no port; expected 1 to 65535, or the path of a socket" --gdb $port; done
    runs 'gdb missing/S: no socket can be made there: No such file or directory' --gdb missing/S
    runs 'gdb none: is there, and no socket; expected another name' --gdb none
    runs 'gdb y*: no path of a socket; expected one of 1 to 107 bytes' --gdb "$(printf 'y%.0s' {1..108})"
    runs 'timeout: a debugger stops the machine for as long as it likes; leave it out with --gdb' --gdb S --timeout 9
    # Two at one place: the second is refused, and the first is none the worse.
    python3 -c 'import socket, time
port, path = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
path.bind("S"), path.listen()
print(port.getsockname()[1], flush=True)
time.sleep(1000)' >port &
    until [ -s port ]; do sleep 0.1; done
    runs "gdb $(cat port): no port to listen at: Address already in use" --gdb "$(cat port)"
    runs 'gdb S: another program listens there; expected another name' --gdb S
    [ -S S ] || fail "another program's socket is gone"
    kill $!
    TMPDIR=$scratch/nowhere runs 'no temporary file can be made; TMPDIR may name another folder than /tmp for it'
    refuses 'no command; expected one behind --' machine
    refuses 'no command; expected one behind --' machine --
    rm machine/pmusim-machine-emulator
    runs "there is no machine in '.*/machine'; 'machine/pmusim-machine build' makes it"
    fake_machine
    rm fakes/busybox
    runs "no busybox on PATH, of which the guest's root is made; Debian's package busybox-static has it" ;;
  guest)
    fake_machine
    mkdir given
    behaves() { printf '%s\n' "$1" >machine/guest; }
    behaves "file '$scratch/made' here; frame O out; frame E err; exited 7"
    ended 7 '^err$' machine -o given -- true
    [ "$(cat out)" = out ] && [ "$(cat given/made)" = here ] && [ "$(stat -c %a given/made)" = 644 ] || fail "$(cat out; ls -l given)"
    for path in "$scratch/../above" /etc/made "$scratch/in/../../above" "$scratch" "$scratch/." ''; do
      behaves "file '$path' here; exited 0"
      ended 2 "the guest hands out ${path//./\\.}, which is no file of its folder $scratch" machine -o given -- true
    done
    [ "$(ls given)" = made ] && [ ! -e above ] && [ ! -e ../above ] || fail "files outside of the folder: $(ls . ..)"
    behaves 'printf "O\xff\xff\xff\x7f" >&3; cat /dev/zero >&3'
    ended 2 'the guest hands out what is no frame' machine -- true
    # Another kind, a status and a mode that are too short, contents without a file, a file within a file.
    for frames in 'printf "?\0\0\0\0" >&3' 'frame Z "\x07"' 'frame F "\xa4"' 'frame D x' 'frame d ""' \
      "frame F '\xa4\x01\x00\x00$scratch/made'; frame F '\xa4\x01\x00\x00$scratch/made'"; do
      behaves "$frames; sleep 1000"
      ended 2 'the guest hands out what is no frame' machine -- true
    done
    # Functions in a log have the names that the guest says, as far as these are some.
    behaves 'for at in 81000010 81000017 81000020 8100000f 80ffffff; do echo "1 write register=R value=0x1 at=0xffffffff$at"; done >"$PMUSIM_MACHINE_HW_LOG"
      echo "2 fault why=\"x at=0x1\" at=0x401000" >>"$PMUSIM_MACHINE_HW_LOG"
      chmod 600 "$PMUSIM_MACHINE_HW_LOG"
      frame K "ffffffff81000010 t second\t[module]\nffffffff81000000 T first\nxyz T bad\n\nffffffff81000018\n\\0\nffffffff81000020 D data\n0 A zero"
      exited 0'
    machine --hw-log log -- true || fail "a guest with odd symbols"
    printf '1 write register=R value=0x1 at=%s\n' second second 0xffffffff81000020 first 0xffffffff80ffffff >expected
    echo '2 fault why="x at=0x1" at=0x401000' >>expected
    cmp log expected && [ "$(stat -c %a log)" = 600 ] || fail "$(cat log; ls -l log)"
    behaves 'frame X "no such program"'
    ended 1 'the guest could not run the command: no such program' machine -- true ;;
  ends)
    fake_machine
    behaves() { printf '%s\n' "echo \$\$ >'$scratch/emulator'; $1" >machine/guest; }
    behaves 'say "$@"'
    ended 1 "the kernel did not come up \(the emulator's exit status is 0\). The kernel said last:$" machine --model skylake -- true
    grep -q 'Kernel panic - not syncing: skylake' err || fail "$(cat err)"
    behaves 'frame S ""; say "$@"'
    ended 1 'the machine stopped before the command ended' machine -- true
    behaves 'kill -9 $$'
    ended 1 "the emulator's exit status is 137" machine -- true
    behaves 'frame F "\xa4\x01\x00\x00$(pwd)/half"; frame D half; kill -9 $$'
    ended 1 "the emulator's exit status is 137" machine -- true
    [ ! -e half ] || fail "half a file"
    behaves 'exec sleep 1000'
    ended 124 'not done after 1 seconds' machine --timeout 1 -- true
    # The line has the symbols of a kernel that was built here.
    mkdir -p 'a tree/arch/x86/boot'
    kernel 0x20C 1 >'a tree/arch/x86/boot/bzImage'
    : >'a tree/vmlinux'
    behaves 'exited 0'
    ended 0 "^  gdb '$scratch/a tree/vmlinux' -ex 'target remote gdb.socket'$" machine --gdb --kernel 'a tree/arch/x86/boot/bzImage' -- true
    [ "$(wc -l <err)" = 2 ] || fail "$(cat err)"
    # A machine that waits for a debugger: the emulator is stopped, listens at a socket that we have made, and Ctrl-C ends it.
    behaves 'printf "%s " "$@" >words; exec sleep 1000'
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("S")'  # left by one who was killed
    for place in '' S "$scratch/S"; do
      rm -f emulator words
      "${environment[@]}" "$program" run --gdb $place -- true 2>err &
      until [ -s emulator ] && [ -s words ]; do sleep 0.1; done
      where=${place:-gdb.socket}
      grep -qE ' -S -chardev socket,id=debugger,server=on,wait=off,fd=[0-9]+ -gdb chardev:debugger ' words || fail "$(cat words)"
      grep -qxE "  gdb (\S+ )?-ex 'target remote $where'" err && [ "$(stat -c %a "$where")" = 700 ] || fail "--gdb $place: $(cat err; ls -l "$where")"
      status=0
      kill -INT $!
      wait $! || status=$?
      [ $status = 130 ] && grep -q 'ended by signal 2' err && [ ! -e "$where" ] || fail "--gdb $place: exit status $status, $(cat err)"
      nothing_left "--gdb $place"
    done
    for signal in INT TERM HUP KILL; do
      rm -f emulator
      "${environment[@]}" "$program" run -- true 2>err &
      until [ -s emulator ]; do sleep 0.1; done
      status=0
      kill -$signal $!
      wait $! 2>/dev/null || status=$?
      for try in $(seq 100); do kill -0 "$(cat emulator)" 2>/dev/null && sleep 0.1; done
      ! kill -0 "$(cat emulator)" 2>/dev/null || fail "SIG$signal leaves the emulator"
      [ $status = $((128 + $(kill -l $signal))) ] || fail "SIG$signal: exit status $status"
      [ $signal = KILL ] || grep -q "ended by signal $(kill -l $signal); 0 files had come out" err || fail "SIG$signal: $(cat err)"
      nothing_left "SIG$signal"
    done
    # One that writes files is asked to end, and is made to by a second signal.
    behaves 'trap "echo whole >$PMUSIM_MACHINE_RECORD; exit" TERM; while :; do sleep 0.1; done'
    ended 124 'not done after 1 seconds' machine --record R --timeout 1 -- true
    [ "$(cat R)" = whole ] || fail "no time for a file"
    behaves 'trap "echo asked >asked" TERM; echo ready >ready; while :; do sleep 0.1; done'
    "${environment[@]}" "$program" run --hw-log H -- true 2>err &
    until [ -s ready ]; do sleep 0.1; done
    kill -INT $!
    until [ -s asked ]; do sleep 0.1; done
    kill -INT $!
    status=0
    wait $! || status=$?
    [ $status = 130 ] && ! kill -0 "$(cat emulator)" 2>/dev/null || fail "a second signal: exit status $status, $(cat err)"
    nothing_left "a second signal"
    # A full disk: no file may have more than 64 kB.
    limited() { (trap '' XFSZ; ulimit -f 64; machine "$@"); }
    behaves "frame F '\xa4\x01\x00\x00$scratch/large'; for n in 1 2 3; do frame D \$(printf %050000d 0); done; frame d ''; exited 0"
    ended 2 'large: cannot be written to its end: File too large' limited -- true
    [ ! -e large ] || fail "half a file"
    head -c 100000 /dev/zero >given
    ended 2 "the guest's root cannot be written to a temporary file: File too large" limited --file given -- true
    behaves 'frame O out; exited 0'
    full() { machine -- true >/dev/full; }
    ended 2 'standard output cannot be written: No space left on device' full ;;
  *) sed -n '3,9s/^# \?//p' "$0" >&2; exit 2 ;;
esac

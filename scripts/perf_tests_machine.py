#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perf's own tests in the machine, as a table in Markdown.

    scripts/perf_tests_machine.py [--limit S] [--without N,N] [--logs DIR] [--read] WHERE...

WHERE is a model, `plain` for the emulator without a PMU, or either with @SUITE behind it for the newest kernel for clouds of that
release of Debian's, which is fetched if it is not there. Each is booted once, in build/machine or what PMUSIM_MACHINE_BUILD names,
and runs all tests but those of the numbers N, one by one, each for S seconds of the guest's processor time at most (default 20), and
eight times as long in all. DIR (default build/perf-tests) keeps what they said; --read makes the table of what is there. A test
that passes everywhere is counted; of others the table says why by perf_tests_machine.tsv, which has a pattern of the test's name, one
of the results, and a sentence in each line; where it has none, the last thing that the test said.
"""
import argparse
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = """as awk bash bc cat cc cmp cut dd find gcc grep head kill ld mktemp nm objdump perf ps python3 readelf sed sleep sort
    strace tail taskset timeout tr true wc zstd""".split()
FOLDERS = """/usr/lib/perf-core /usr/lib/python3*/*.py /usr/lib/python3*/{collections,encodings,importlib,json,lib-dynload,logging,re}
    /usr/lib/gcc/x86_64-linux-gnu/*/{cc1,collect2,crt*.o,include,libgcc.a,libgcc_eh.a,libgcc_s.so,liblto_plugin.so,lto1,lto-wrapper}
    /usr/lib/x86_64-linux-gnu/{Scrt1.o,crt1.o,crti.o,crtn.o,libc.so,libc.so.6,libc_nonshared.a,libgcc_s.so.1,libm.so.6,libmvec.so.1}
    /usr/include/*.h /usr/include/{asm-generic,linux} /usr/include/x86_64-linux-gnu/{asm,bits,gnu,sys}""".split()
# The console is the one way out of a machine that has no PMU. Without a cache of build IDs, to which each perf record would add the
# kernel's symbols, it takes a tenth.
GUEST = r"""exec >/dev/ttyS0 2>&1
busy() { awk '{printf "%d", $1 - $2}' /proc/uptime; }
echo "=== kernel $(uname -r), $(perf version)"
printf '[buildid]\ndir = /dev/null\n' >/root/.perfconfig
n=0
while n=$((n + 1)); do
  case ",$2," in *",$n,"*) continue ;; esac
  begun=$(busy) turns=0 status=0
  setsid perf test -v $n >log 2>&1 &
  while kill -0 $! 2>/dev/null; do
    [ $(($(busy) - begun)) -lt $1 ] && [ $((turns += 1)) -lt $(($1 * 40)) ] || { kill -9 -$!; break; }
    sleep 0.2
  done
  wait $! || status=$?
  grep '^ *[0-9][0-9.]*: ' log >/dev/null || break
  echo "=== test $n $status"
  tail -n 60 log
done
echo "=== end"
"""
OK, SKIP, FAILED, NO_END, NOT_RUN = "ok", "skip", "FAILED", "no end", "-"
RESULTS = {"Ok": OK, "Skip": SKIP, "FAILED!": FAILED}

Result = namedtuple("Result", "what said")
Reason = namedtuple("Reason", "test results sentence")


def refuse(sentence):
    print(f"perf_tests_machine.py: {sentence}", file=sys.stderr)
    sys.exit(2)


def expanded(pattern):
    """The files of a shell's pattern with braces."""
    braces = re.search(r"\{([^}]*)\}", pattern)
    if not braces:
        return sorted(glob.glob(pattern))
    return [path for word in braces[1].split(",") for path in expanded(pattern[:braces.start()] + word + pattern[braces.end():])]


def files():
    found = [path for program in PROGRAMS for path in glob.glob("/usr/bin/" + program)]
    return found + [path for pattern in FOLDERS for path in expanded(pattern)]


def plain_machine(machine, folder):
    folder.mkdir()
    for name in ("init", "firmware"):
        (folder / name).symlink_to(machine / name)
    (folder / "pmusim-machine-emulator").symlink_to(machine / "emulator/qemu-system-x86_64")
    return folder


def run(where, machine, options, log):
    """Boots `where` and leaves in `log` what its console said."""
    model, _, suite = where.partition("@")
    kernel = machine / "kernel/bzImage"
    if suite:
        fetched = subprocess.run([HERE.parent / "machine/fetch-packages.sh", "kernel", machine / f"kernel-{suite}", suite], check=False,
                                 stdout=subprocess.PIPE, text=True)
        if fetched.returncode != 0:
            refuse(f"{where}: no kernel")
        kernel = fetched.stdout.strip()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "guest.sh").write_text(GUEST)
        is_plain = model == "plain"
        words = [machine / "pmusim-machine", "run", "--machine", plain_machine(machine, folder / "plain") if is_plain else machine,
                 *([] if is_plain else ["--model", model]), "--kernel", kernel, "--memory", "2048", "--console", log.resolve(),
                 "--timeout", str(options.timeout), *(word for path in files() for word in ("--file", path)), "--", "sh", "guest.sh",
                 str(options.limit), options.without]
        said = subprocess.run(list(map(str, words)), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if said.returncode == 2:
        refuse(said.stdout.strip())
    if "=== end" not in log.read_text(errors="replace"):
        print(f"{where}: not all tests ran: {said.stdout[-500:]}", file=sys.stderr)


def last_said(lines):
    told = [line for line in lines if line and not re.match(r"--- start|---- end|test child|\[ *\d+\.\d{6}\]", line)]
    return told[-1] if told else "says nothing"


def results_of(log):
    """What the tests of a console came to, by number and name: those of their parts, if they have some."""
    results = {}
    for test in re.split(r"^=== test ", log.read_text(errors="replace").replace("\r", ""), flags=re.M)[1:]:
        heading, *lines = re.split(r"^=== ", test, flags=re.M)[0].splitlines()
        number, status = heading.split()
        name, began = "", 0
        for at, line in enumerate(lines):
            if header := re.match(r" *(\d+(?:\.\d+)?): (.*?) *:( |$)", line):
                if header[1].split(".")[0] == number:
                    name, began = (tuple(map(int, header[1].split("."))), header[2]), at
            if (ended := re.match(r".*: (Ok|Skip|FAILED!)( \(.*\))?$", line)) and name:
                said = last_said(lines[began + 1:at])
                results[name] = Result(RESULTS[ended[1]], ended[2].strip(" ()") if ended[2] else said)
                name = ""
        if name and status in ("124", "137"):
            results[name] = Result(NO_END, last_said(lines[began + 1:]))
    return results


def reasons():
    for line in (HERE / "perf_tests_machine.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            test, results, sentence = line.split("\t")
            yield Reason(re.compile(test), re.compile(results), sentence)


def reason_of(name, row, known):
    """The known reasons for a row, each once, and what was said where there is none."""
    found = []
    for result in row:
        if result.what not in (OK, NOT_RUN):
            sentence = next((reason.sentence for reason in known if reason.test.fullmatch(name) and reason.results.fullmatch(result.what)),
                            f"? {result.said}")
            if sentence not in found:
                found.append(sentence)
    return "; ".join(found).replace("|", "\\|")


def table(columns):
    known = list(reasons())
    tests = sorted({test for column in columns.values() for test in column})
    rows, passed = {}, 0
    for test in tests:
        row = [column.get(test, Result(NOT_RUN, "")) for column in columns.values()]
        if all(result.what == OK for result in row):
            passed += 1
            continue
        # Tests that came to the same for the same reason share a row.
        shown = tuple(result.what for result in row)
        rows.setdefault((shown, reason_of(test[1], row, known)), []).append(f"{'.'.join(map(str, test[0]))} {test[1]}")
    yield "| Test | " + " | ".join(f"`{where}`" for where in columns) + " | Why |"
    yield "|---|" + "---|" * len(columns) + "---|"
    for (shown, why), names in rows.items():
        yield f"| {', '.join(names)} | " + " | ".join(shown) + f" | {why} |"
    yield f"| {passed} more | " + "ok | " * len(columns) + "|"
    counts = [Counter(result.what for result in column.values()) for column in columns.values()]
    yield "| **ok, skip, FAILED, no end** | " + " | ".join(
        ", ".join(str(count[what]) for what in (OK, SKIP, FAILED, NO_END)) for count in counts) + " | |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", nargs="+", metavar="WHERE")
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--without", default="", metavar="N,N")
    parser.add_argument("--timeout", type=int, default=3600, help="seconds here for all tests of a machine")
    parser.add_argument("--logs", type=pathlib.Path, default=pathlib.Path("build/perf-tests"))
    parser.add_argument("--read", action="store_true")
    options = parser.parse_args()
    machine = pathlib.Path(os.environ.get("PMUSIM_MACHINE_BUILD", "build/machine")).resolve()
    if not options.read and not (machine / "pmusim-machine-emulator").exists():
        refuse(f"there is no machine in {machine}; 'machine/pmusim-machine build' makes it")
    options.logs.mkdir(parents=True, exist_ok=True)
    columns = {}
    for where in options.where:
        log = options.logs / f"{where}.console"
        if not options.read:
            run(where, machine, options, log)
        elif not log.exists():
            refuse(f"{log}: there is no such log; without --read a run leaves it")
        columns[where] = results_of(log)
    print("\n".join(table(columns)))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Which tests come by a mutant, and which of them notice it."""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutation.places import NUMBERS

MEMORY_BYTES = 8 << 30  # of a process: more is a mutant that allocates without end
LEAST_SECONDS = 10
WAITING = 6  # times that the clock may take what the processor may
SLOW_SECONDS = 1  # a test that takes longer is run alone, so that one that hangs is noticed soon
FILTER_BYTES = 100_000  # of an argument


def limited(seconds):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def run(binary: Path, arguments, environment, seconds: int):
    """Return code (None: did not end) and output. Time is the processor's; a program that waits has WAITING times it."""
    process = subprocess.Popen([binary, *arguments], cwd=binary.parent, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               env={**os.environ, **environment}, preexec_fn=limited(seconds), start_new_session=True)
    try:
        output, _ = process.communicate(timeout=WAITING * seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""


class Reach:
    """The tests of each program with what they take and which mutants they come by, kept in a folder."""

    def __init__(self, folder: Path, jobs: int):
        self.folder, self.jobs = folder, jobs
        self.tests = {}  # program -> [(test, seconds, mutants)]
        folder.mkdir(parents=True, exist_ok=True)

    def measure(self, name: str, binary: Path):
        kept, mark = self.folder / f"{name}.json", binary.stat().st_mtime_ns
        if kept.exists() and (known := json.loads(kept.read_text()))["mark"] == mark:
            self.tests[name] = known["tests"]
            return
        with ThreadPoolExecutor(self.jobs) as workers:
            found = list(workers.map(lambda test: self.measured(name, binary, test), list_tests(binary)))
        self.tests[name] = [test for test in found if test is not None]
        kept.write_text(json.dumps({"mark": mark, "tests": self.tests[name]}))

    def measured(self, name, binary, test):
        reached = self.folder / f"{name}.{os.getpid()}.{abs(hash(test))}.reached"
        reached.write_bytes(bytes(NUMBERS))
        begin = time.monotonic()
        code, output = run(binary, ["--gtest_brief=1", f"--gtest_filter={test}"],
                           {"PMUSIM_MUTANTS_REACHED": str(reached)}, 120)
        seconds = time.monotonic() - begin
        found = [m.start() for m in re.finditer(rb"\x01", reached.read_bytes())]
        reached.unlink()
        if code != 0:
            print(f"{name}.{test} fails without a mutant, and is left out\n{output[-500:]}", file=sys.stderr)
            return None
        return [test, seconds, found]

    def of(self, number: int, programs):
        """(program, [(seconds, test)]) of those that come by, the quickest tests first."""
        for program in programs:
            reaching = sorted((seconds, test) for test, seconds, found in self.tests[program] if number in found)
            if reaching:
                yield program, reaching


def list_tests(binary: Path):
    output = subprocess.run([binary, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    suite, tests = "", []
    for line in output.splitlines():
        name = line.split("#")[0].rstrip()
        if line.startswith("  "):
            tests.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return [test for test in tests if "DISABLED_" not in test]


def try_out(number: int, reach: Reach, programs, binary_of) -> str:
    """"killed by TEST", "survived" or "reached by no test"."""
    reached = False
    for program, tests in reach.of(number, programs):
        reached = True
        for some in parts(tests):
            names = ":".join(test for _, test in some)
            code, output = run(binary_of(program), ["--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={names}"],
                               {"PMUSIM_MUTANT": str(number)}, LEAST_SECONDS + int(3 * sum(s for s, _ in some)))
            if code is None or code == -signal.SIGXCPU:
                return f"killed by {program}: no end"
            if code != 0:
                found = re.search(r"\[  FAILED  \] ([\w/.]+)", output)
                return f"killed by {program}.{found[1] if found else f'ended by {code}'}"
    return "survived" if reached else "reached by no test"


def parts(tests):
    """A few quick ones first, for most mutants die of any; then what fits an argument at a time, and the slow ones alone."""
    part, size, most = [], 0, 12
    for seconds, test in tests:
        if part and (len(part) == most or size + len(test) > FILTER_BYTES or seconds > SLOW_SECONDS):
            yield part
            part, size, most = [], 0, len(tests)
        part.append((seconds, test))
        size += len(test) + 1
    if part:
        yield part

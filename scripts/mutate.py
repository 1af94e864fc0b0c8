#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes the code in one place, builds, runs the tests that should notice, and tells which changes nobody noticed.

  scripts/mutate.py [--count N] [--seed N] [--jobs N] [--state DIR] [ROOM...]

Mutants are drawn from src/ROOM of the rooms in TESTS below (all of them, unless some are named): another relational,
arithmetic or bit operator, a constant one off, a condition negated, a statement dropped, two arguments swapped. The same
seed draws the same mutants from the same sources; a larger --count draws further ones.

Each job works on a copy of the tree in DIR (default build/mutation), with a build of its own. Results are kept in
DIR/results.jsonl, a line each: what was tried is not tried again until its source changes. The report names the
survivors, and ends with the share of mutants that a test killed; those listed with a reason in
tests/mutation/equivalent.tsv, and those that compile to the same object, count as neither.
"""
import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent

# A room's own tests first, then those of its neighbours.
HARDWARE = ["pmu", "driver_on_pmu", "scenario", "machine"]
TESTS = {
    "msr": ["msr"] + HARDWARE,
    "lbr": ["lbr"] + HARDWARE,
    "pebs": ["pebs"] + HARDWARE,
    "acr": ["acr"] + HARDWARE,
    "xsave": ["xsave"] + HARDWARE,
    "pmu": ["pmu", "msr", "observe", "driver_on_pmu", "scenario", "machine", "explore"],
    "driver": ["driver", "driver_on_pmu", "machine", "driver_explored", "session"],
    "perf": ["perf", "driver_on_pmu", "session"],
    "annotate": ["annotate"],
    "trace": ["trace", "core", "formats", "replay", "session"],
}
SECONDS_PER_PROGRAM = 120  # what takes longer hangs, and is killed


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    kind: str
    before: str  # the line as it stands, and as it would
    after: str
    offset: int
    length: int
    text: str


# --- what can be changed ------------------------------------------------------------------------------------------

OPERATORS = {
    "relational": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    "arithmetic": {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "++": "--", "--": "++"},
    "bit": {"&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<", "&=": "|=", "|=": "&="},
    "logical": {"&&": "||", "||": "&&"},
}
# Only between spaces, as the formatter sets what has two operands: never a reference, a template or a pointer.
BINARY = re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||<<|>>|\+=|-=|&=|\|=|[-+*/%&|^<>])(?= )")
STEP = re.compile(r"\+\+|--")
NUMBER = re.compile(r"(?<![\w.'])(0x[0-9A-Fa-f']+|\d[\d']*)(?![\w.'])")
NEGATED = re.compile(r"(?<=[(\s])!(?=[\w(])")
CONDITION = re.compile(r"\b(?:if|while) \(([^;{}]+)\)(?= )")
STATEMENT = re.compile(r"^ +(?!return|break|continue|using|case|default|static_assert|throw|goto|else|if|for|while|do\b)"
                       r"[\w:>.\[\]()*-]+(?:\.|->)?[^;{}=]*(?:\(.*\)|[-+|&^]?= [^;{}]+|\+\+|--);$")
DECLARATION = re.compile(r"^ +(?:const|constexpr|static|auto|struct|class|enum|template|friend|[A-Za-z_][\w:<>, ]*[&*]? +\w+"
                         r"(?: = |[({;]))")
ARGUMENTS = re.compile(r"(?<=\()(\w+), (\w+)(?=[,)])")


def blanked(source: str) -> str:
    """The source with comments, strings and directives as spaces: offsets stay."""
    skip = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\w)|^[ \t]*#[^\n]*', re.S | re.M)
    return skip.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def changes(line: str):
    """(kind, begin, end, replacement) of everything that can be changed in a line of code."""
    for found in BINARY.finditer(line):
        for kind, others in OPERATORS.items():
            if found[0] in others and not line.startswith(("template", "#")):
                yield kind, *found.span(), others[found[0]]
    for found in STEP.finditer(line):
        yield "arithmetic", *found.span(), OPERATORS["arithmetic"][found[0]]
    for found in NUMBER.finditer(line):
        value = int(found[0].replace("'", ""), 0)
        yield "constant", *found.span(), str(value + 1)
        if value > 1:
            yield "constant", *found.span(), str(value - 1)
    for found in NEGATED.finditer(line):
        yield "logical", *found.span(), ""
    for found in CONDITION.finditer(line):
        if ";" not in found[1] and found[1].count("(") == found[1].count(")"):
            yield "logical", *found.span(1), f"!({found[1]})"
    if STATEMENT.match(line) and not DECLARATION.match(line):
        yield "dropped", len(line) - len(line.lstrip()), len(line), ";"
    for found in ARGUMENTS.finditer(line):
        if found[1] != found[2]:
            yield "swapped", *found.span(), f"{found[2]}, {found[1]}"


def mutants_of(path: Path):
    source = path.read_text()
    offset = 0
    for number, (line, code) in enumerate(zip(source.split("\n"), blanked(source).split("\n")), 1):
        for kind, begin, end, text in changes(code):
            after = line[:begin] + text + line[end:]
            yield Mutant(str(path.relative_to(TOP)), number, kind, line.strip(), after.strip(), offset + begin,
                         end - begin, text)
        offset += len(line) + 1


def drawn(rooms, seed, count):
    """The mutants to try. Those drawn for a small count are drawn for a larger one, too."""
    everything = [m for room in sorted(rooms) for path in sorted((TOP / "src" / room).rglob("*.cpp"))
                  for m in mutants_of(path)]
    random.Random(seed).shuffle(everything)
    return everything[:count], len(everything)


# --- trying them --------------------------------------------------------------------------------------------------


def key_of(mutant: Mutant) -> str:
    """Equal for the same change to the same source."""
    return hashlib.sha256(f"{mutant}{(TOP / mutant.file).read_text()}".encode()).hexdigest()[:24]


class Workshop:
    """A copy of the tree with a build of its own."""

    def __init__(self, folder: Path):
        self.tree, self.build = folder / "tree", folder / "build"
        self.tree.mkdir(parents=True, exist_ok=True)
        files = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True).stdout
        for name in files.strip("\0").split("\0"):
            source, copy = TOP / name, self.tree / name
            if not copy.exists() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DPMUSIM_TESTS=ON", "-DPMUSIM_BENCHMARKS=OFF"],
                       check=True, stdout=subprocess.DEVNULL)

    def make(self, *targets) -> bool:
        return subprocess.run(["ninja", "-C", self.build, "--quiet", "-j1", *targets],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def object_of(self, mutant: Mutant) -> Path:
        room = Path(mutant.file).parts[1]
        return self.build / "CMakeFiles" / f"pmusim_{room}.dir" / f"{mutant.file}.o"

    def fails(self, program: str):
        """The test that fails; a crash or a hang counts."""
        binary = next(p for p in self.build.rglob(f"test_{program}") if p.is_file())
        try:
            run = subprocess.run([binary, "--gtest_brief=1", "--gtest_fail_fast"], cwd=binary.parent, text=True,
                                 errors="replace", capture_output=True, timeout=SECONDS_PER_PROGRAM)
        except subprocess.TimeoutExpired:
            return f"{program}: no end"
        if run.returncode == 0:
            return None
        found = re.search(r"\[  FAILED  \] ([\w/.]+)", run.stdout)
        return f"{program}.{found[1] if found else f'ended by {run.returncode}'}"

    def try_out(self, mutant: Mutant) -> str:
        """"killed by TEST", "survived", "same object" or "does not compile"."""
        room = Path(mutant.file).parts[1]
        programs = TESTS[room]
        path, source = self.tree / mutant.file, (TOP / mutant.file).read_text()
        path.write_text(source)
        if not self.make(*(f"test_{p}" for p in programs)):
            raise RuntimeError(f"{self.tree}: the tests of {room} do not build")
        unchanged = self.object_of(mutant).read_bytes()
        path.write_text(source[:mutant.offset] + mutant.text + source[mutant.offset + mutant.length:])
        try:
            if not self.make(self.object_of(mutant).relative_to(self.build)):
                return "does not compile"
            if self.object_of(mutant).read_bytes() == unchanged:
                return "same object"
            for program in programs:
                if not self.make(f"test_{program}"):
                    return "does not compile"
                if failed := self.fails(program):
                    return f"killed by {failed}"
            return "survived"
        finally:
            path.write_text(source)


class Results:
    def __init__(self, path: Path):
        self.path, self.lock = path, threading.Lock()
        lines = path.read_text().splitlines() if path.exists() else []
        self.known = {entry["key"]: entry for entry in map(json.loads, lines)}

    def add(self, mutant: Mutant, outcome: str):
        entry = {"key": key_of(mutant), "outcome": outcome, **asdict(mutant)}
        with self.lock:
            self.known[entry["key"]] = entry
            with self.path.open("a") as file:
                file.write(json.dumps(entry) + "\n")


def work(folder: Path, queue, results: Results, total: int):
    workshop = Workshop(folder)
    while True:
        try:
            mutant = queue.pop(0)
        except IndexError:
            return
        outcome = workshop.try_out(mutant)
        results.add(mutant, outcome)
        print(f"{total - len(queue)}/{total} {mutant.file}:{mutant.line}: {mutant.kind}: {outcome}", file=sys.stderr)


# --- what came of it ----------------------------------------------------------------------------------------------


def equivalents():
    """FILE, line as it stands, line as changed -> why no test can tell."""
    path = TOP / "tests" / "mutation" / "equivalent.tsv"
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {tuple(row[:3]): row[3] for row in rows}


def report(mutants, results: Results):
    reasons = equivalents()
    table, survivors, alike, broken = {}, [], 0, 0
    for mutant in mutants:
        entry = results.known.get(key_of(mutant))
        if entry is None:
            continue
        row = table.setdefault(Path(mutant.file).parts[1], [0, 0])
        if entry["outcome"] == "does not compile":
            broken += 1
        elif entry["outcome"] == "same object" or (mutant.file, mutant.before, mutant.after) in reasons:
            alike += 1
        elif entry["outcome"] == "survived":
            row[1] += 1
            survivors.append(mutant)
        else:
            row[0] += 1
    for mutant in sorted(survivors, key=lambda m: (m.file, m.line)):
        print(f"{mutant.file}:{mutant.line}: {mutant.kind}\n  - {mutant.before}\n  + {mutant.after}")
    print(f"\n{'room':<10} {'killed':>7} {'alive':>6}")
    for room, (killed, alive) in sorted(table.items()):
        print(f"{room:<10} {killed:>7} {alive:>6}")
    killed, alive = (sum(row[n] for row in table.values()) for n in (0, 1))
    share = f"{100 * killed / (killed + alive):.1f} %" if killed + alive else "none tried"
    print(f"{'all':<10} {killed:>7} {alive:>6}   {share} killed; {alike} equivalent, {broken} did not compile")
    return 1 if survivors else 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(TESTS))
    options.add_argument("--count", type=int, default=100, help="how many to draw (default 100)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--state", type=Path, default=TOP / "build" / "mutation")
    given = options.parse_args()
    if unknown := [room for room in given.rooms if room not in TESTS]:
        options.error(f"no room '{unknown[0]}': expected some of {', '.join(TESTS)}")
    mutants, possible = drawn(given.rooms or TESTS, given.seed, given.count)
    given.state.mkdir(parents=True, exist_ok=True)
    results = Results(given.state / "results.jsonl")
    left = [m for m in mutants if key_of(m) not in results.known]
    print(f"{len(mutants)} of {possible} possible mutants, {len(left)} to try", file=sys.stderr)
    total = len(left)
    workers = [threading.Thread(target=work, args=(given.state / str(n), left, results, total))
               for n in range(min(given.jobs, total))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return report(mutants, results)


if __name__ == "__main__":
    sys.exit(main())

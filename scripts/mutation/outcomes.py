# SPDX-License-Identifier: MIT
"""What became of mutants, in a file that goes from machine to machine."""
import functools
import hashlib
import sys
import threading
from pathlib import Path

from mutation import places

NOT_TRIED = "not tried"
ALIVE = ("survived", "reached by no test")
KILLED = "killed by "


@functools.cache
def digest_of(program: str) -> bytes:
    """Of the tests of a program, and of what tests have in common."""
    content = hashlib.sha256()
    for folder in (places.TOP / "tests" / program, places.TOP / "tests" / "support"):
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            content.update(f"{path.relative_to(places.TOP)}\0".encode() + path.read_bytes())
    return content.digest()


class Results:
    """Outcomes by mutant. In the file, lines of the mutant's key, a mark of the tests that decided, and what came out; a later
    line of the same key counts."""

    def __init__(self, path: Path, tests):
        """`tests`: the programs that are tried, by module."""
        self.path, self.tests, self.lock = path, tests, threading.Lock()
        lines = path.read_text().splitlines() if path.exists() else []
        rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
        self.known = {key: (mark, outcome) for key, mark, outcome in rows}

    def mark(self, mutant, outcome: str) -> str:
        """Other tests may come to another outcome. What the compiler says stays."""
        if outcome.startswith(KILLED):
            programs = [program_of(outcome)]
        else:
            programs = self.tests[mutant.module] if outcome in ALIVE else []
        return hashlib.sha256(b"".join(map(digest_of, programs))).hexdigest()[:12] if programs else "-"

    def of(self, mutant):
        """The outcome; None: it has not been tried with this source and these tests."""
        mark, outcome = self.known.get(places.key_of(mutant), ("", ""))
        return outcome if outcome and mark == self.mark(mutant, outcome) else None

    def add(self, mutant, outcome: str):
        row = places.key_of(mutant), self.mark(mutant, outcome), outcome
        with self.lock:
            self.known[row[0]] = row[1:]
            with self.path.open("a") as file:
                file.write("\t".join(row) + "\n")
            print(f"{mutant.file}:{mutant.line}: {mutant.kind}: {outcome}", file=sys.stderr, flush=True)

    def tidy(self):
        """Each mutant once, in an order of its own: files of two machines can be merged."""
        lines = ["\t".join((key, *self.known[key])) for key in sorted(self.known)]
        self.path.write_text("".join(line + "\n" for line in [HEAD, *lines]))


HEAD = "# Outcomes of mutants (scripts/mutate.py): key, mark of the tests that decided, outcome; tabs between them."


def program_of(outcome: str) -> str:
    """`msr` of "killed by msr.Suite.Test" and of "killed by msr: no end"."""
    return outcome.removeprefix(KILLED).split(".")[0].split(":")[0]

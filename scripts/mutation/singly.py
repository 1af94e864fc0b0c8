# SPDX-License-Identifier: MIT
"""A mutant alone in a build of its own, for what cannot be chosen at run time."""
import re
import signal
import subprocess
import time
from pathlib import Path

from mutation.building import CONFIGURATION, write_if_other
from mutation.places import TOP, Mutant
from mutation.trying import LEAST_SECONDS, run

MOST_SECONDS = 3600  # of a program as the sources stand
# Changed code warns of what was sound before.
WITHOUT_WARNINGS = "-DCMAKE_CXX_FLAGS=-w"
FAILED = re.compile(r"\[  FAILED  \] ([\w/]+\.[\w/]+)")


class Workshop:
    """A copy of the tree with a build of its own."""

    def __init__(self, folder: Path, jobs: int):
        self.tree, self.build, self.jobs = folder / "tree", folder / "tree" / "build" / "dev", jobs
        self.measured = {}  # program -> the tests that fail as the sources stand, and how long all take
        names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True).stdout
        for name in names.strip("\0").split("\0"):
            write_if_other(self.tree / name, (TOP / name).read_bytes())
            (self.tree / name).chmod((TOP / name).stat().st_mode)
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, *CONFIGURATION, WITHOUT_WARNINGS],
                       check=True, stdout=subprocess.DEVNULL)

    def make(self, *targets) -> bool:
        return subprocess.run(["ninja", "-C", self.build, "--quiet", f"-j{self.jobs}", *targets],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def object_of(self, mutant: Mutant) -> Path:
        return self.build / "CMakeFiles" / f"pmusim_{mutant.module}.dir" / f"{mutant.file}.o"

    def binary(self, program: str) -> Path:
        return next(p for p in self.build.rglob(f"test_{program}") if p.is_file())

    def measure(self, program: str):
        """Runs it with the sources as they stand."""
        if not self.make(f"test_{program}"):
            raise RuntimeError(f"test_{program} does not compile as it stands")
        begin = time.monotonic()
        code, output = run(self.binary(program), ["--gtest_brief=1"], {}, MOST_SECONDS)
        failing = sorted(set(FAILED.findall(output)))
        if code != 0 and not failing:
            raise RuntimeError(f"test_{program} does not end without a mutant")
        self.measured[program] = failing, time.monotonic() - begin

    def fails(self, program: str):
        """The test that fails; a crash or a hang counts."""
        failing, seconds = self.measured[program]
        arguments = ["--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter=-{':'.join(failing)}"]
        code, output = run(self.binary(program), arguments, {}, LEAST_SECONDS + int(3 * seconds))
        if code is None or code == -signal.SIGXCPU:
            return f"{program}: no end"
        if code == 0:
            return None
        found = FAILED.search(output)
        return f"{program}.{found[1] if found else f'ended by {code}'}"

    def try_out(self, mutant: Mutant, programs) -> str:
        """"killed by TEST", "survived", "same object" or "does not compile"."""
        path, source = self.tree / mutant.file, (TOP / mutant.file).read_text()
        changed = source[:mutant.offset] + mutant.text + source[mutant.end:]
        path.write_text(source)
        if not self.make(self.object_of(mutant).relative_to(self.build)):
            raise RuntimeError(f"{mutant.file} does not compile as it stands")
        unchanged = self.object_of(mutant).read_bytes()
        path.write_text(changed)
        try:
            if not self.make(self.object_of(mutant).relative_to(self.build)):
                return "does not compile"
            if self.object_of(mutant).read_bytes() == unchanged:
                return "same object"
            for program in programs:
                if program not in self.measured:
                    path.write_text(source)
                    self.measure(program)
                    path.write_text(changed)
                if not self.make(f"test_{program}"):
                    return "does not compile"
                if failed := self.fails(program):
                    return f"killed by {failed}"
            return "survived"
        finally:
            path.write_text(source)

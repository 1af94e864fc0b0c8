# SPDX-License-Identifier: MIT
"""A mutant alone in a build of its own, for what cannot be chosen at run time."""
import subprocess
from pathlib import Path

from mutation.building import CONFIGURATION, write_if_other
from mutation.places import TOP, Mutant
from mutation.trying import run
import re
import signal

SECONDS_PER_PROGRAM = 120  # of processor time: what takes longer hangs, and is killed


class Workshop:
    """A copy of the tree with a build of its own."""

    def __init__(self, folder: Path, jobs: int):
        self.tree, self.build, self.jobs = folder / "tree", folder / "tree" / "build" / "dev", jobs
        names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True).stdout
        for name in names.strip("\0").split("\0"):
            write_if_other(self.tree / name, (TOP / name).read_bytes())
            (self.tree / name).chmod((TOP / name).stat().st_mode)
        subprocess.run(["cmake", "-S", self.tree, "-B", self.build, *CONFIGURATION], check=True,
                       stdout=subprocess.DEVNULL)

    def make(self, *targets) -> bool:
        return subprocess.run(["ninja", "-C", self.build, "--quiet", f"-j{self.jobs}", *targets],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def object_of(self, mutant: Mutant) -> Path:
        return self.build / "CMakeFiles" / f"pmusim_{mutant.room}.dir" / f"{mutant.file}.o"

    def fails(self, program: str):
        """The test that fails; a crash or a hang counts."""
        binary = next(p for p in self.build.rglob(f"test_{program}") if p.is_file())
        code, output = run(binary, ["--gtest_brief=1", "--gtest_fail_fast"], {}, SECONDS_PER_PROGRAM)
        if code is None or code == -signal.SIGXCPU:
            return f"{program}: no end"
        if code == 0:
            return None
        found = re.search(r"\[  FAILED  \] ([\w/.]+)", output)
        return f"{program}.{found[1] if found else f'ended by {code}'}"

    def try_out(self, mutant: Mutant, programs) -> str:
        """"killed by TEST", "survived", "same object" or "does not compile"."""
        path, source = self.tree / mutant.file, (TOP / mutant.file).read_text()
        path.write_text(source)
        if not self.make(self.object_of(mutant).relative_to(self.build)):
            raise RuntimeError(f"{mutant.file} does not compile as it stands")
        unchanged = self.object_of(mutant).read_bytes()
        path.write_text(source[:mutant.offset] + mutant.text + source[mutant.end:])
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

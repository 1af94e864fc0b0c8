# SPDX-License-Identifier: MIT
"""A copy of the tree with every drawn mutant in it, built once."""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mutation.places import TOP
from mutation.schemata import DEFINITIONS, Instrumented

# With assertions on: they are tests, too. g++ takes some sound code for uninitialised at -O1 alone.
CONFIGURATION = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -w", "-DPMUSIM_TESTS=ON",
                 "-DPMUSIM_BENCHMARKS=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]


def write_if_other(path: Path, data: bytes):
    """Leaves what is the same alone, so that it is not built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class Tree:
    """The copy; its build stands in it where a developer's would, so that a compiler cache knows its objects."""

    def __init__(self, folder: Path, jobs: int):
        self.top, self.build, self.jobs = folder / "tree", folder / "tree" / "build" / "dev", jobs
        self.alive_in = {}  # mutant's number -> how it asks
        self.state = folder / "instrumented.json"
        self.kept = json.loads(self.state.read_text()) if self.state.exists() else {}

    def instrument(self, mutants, places):
        """Copies the tree and puts the mutants in, those out that do not compile. Of `places`, all that there are, those that
        it had before stay in sources that are the same: what has been drawn once is not built again."""
        before, files = self.mutants_before(), {}
        for number, mutant in places.items():
            if number in mutants or str(mutant) in before:
                files.setdefault(mutant.file, []).append((number, mutant))
        sources = {name: Instrumented((TOP / name).read_text(), numbered) for name, numbered in sorted(files.items())}
        for name, source in sources.items():
            source.become(self.kept.get(name, {}))
        self.copy({name: source.render() for name, source in sources.items()})
        self.configure()
        while failed := self.compile(sources):
            for name, lines in failed.items():
                print(f"{name}: does not compile at {sorted(lines)}", file=sys.stderr)
                sources[name].retreat(lines)
                write_if_other(self.top / name, sources[name].render().encode())
        self.keep(sources)
        self.alive_in = {c.number: c.asking for source in sources.values() for c in source.choices}

    def mutants_before(self):
        same = [state for name, state in self.kept.items()
                if (TOP / name).is_file() and (TOP / name).read_text() == state["source"]]
        return {mutant for state in same for mutant in [*state["asking"], *state["out"]]}

    def keep(self, sources):
        """What compiled, for the next time."""
        self.kept |= {name: source.state() for name, source in sources.items()}
        self.state.write_text(json.dumps(self.kept))

    def copy(self, instrumented):
        names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, capture_output=True, text=True, check=True).stdout
        for name in names.strip("\0").split("\0"):
            data = instrumented[name].encode() if name in instrumented else (TOP / name).read_bytes()
            if name == "CMakeLists.txt":
                # Changed code warns of what was sound before.
                data += (f"\nset_source_files_properties({' '.join(instrumented)} PROPERTIES COMPILE_OPTIONS "
                         "\"-w;-fpermissive;-Wno-narrowing\")\n").encode()
            write_if_other(self.top / name, data)
            shutil.copymode(TOP / name, self.top / name)
        write_if_other(self.top / "src" / "base" / "mutants.cpp", DEFINITIONS.encode())

    def configure(self):
        subprocess.run(["cmake", "-S", self.top, "-B", self.build, *CONFIGURATION], check=True,
                       stdout=subprocess.DEVNULL)

    def compile(self, sources):
        """The files that do not compile, with the lines of which the compiler speaks."""
        commands = json.loads((self.build / "compile_commands.json").read_text())
        output = re.compile(r" -o (CMakeFiles/pmusim_\S+)")
        object_of = {str(Path(c["file"]).relative_to(self.top)): found[1] for c in commands
                     if (found := output.search(c["command"])) and c["file"].startswith(f"{self.top}/src/")}
        run = subprocess.run(["ninja", "-C", self.build, "-k", "0", f"-j{self.jobs}", *(object_of[s] for s in sources)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if run.returncode == 0:
            return {}
        failed = {}
        for part in re.split(r"^FAILED: ", run.stdout, flags=re.M)[1:]:
            name = next(s for s in sources if f"/{s}.o" in part.split("\n", 1)[0])
            failed[name] = set(lines_blamed(part, name))
        if not failed:
            raise RuntimeError(run.stdout[-2000:])
        return failed

    def make(self, programs):
        run = subprocess.run(["ninja", "-C", self.build, "--quiet", f"-j{self.jobs}", *(f"test_{p}" for p in programs)],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            raise RuntimeError(run.stdout[-2000:])

    def program(self, name: str) -> Path:
        return self.build / "tests" / f"test_{name}" if (self.build / "tests" / f"test_{name}").exists() else next(
            p for p in self.build.rglob(f"test_{name}") if p.is_file())


def lines_blamed(messages: str, name: str):
    """Where errors are, up to the first of syntax: what follows it means nothing."""
    for found in re.finditer(rf"{re.escape(name)}:(\d+):(?:\d+:)? *(error|note|  required)(.*)", messages):
        yield int(found[1])
        if found[2] == "error" and "expected" in found[3]:
            return

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What scripts/mutate.py keeps: seeds share one build, and outcomes hold while source and tests stay as they are."""
import contextlib
import io
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts"))

from mutation import building, outcomes, places  # noqa: E402

SOURCE = "".join(f"int f{n}(int a, int b) {{\n  if (a < b) return a + {n};\n  return a * b;\n}}\n" for n in range(2, 12))
FILES = {"CMakeLists.txt": "", "src/m/a.cpp": SOURCE, "src/m/b.cpp": SOURCE.replace("int f", "int g"),
         "tests/own/a_test.cpp": "of the module", "tests/neighbour/a_test.cpp": "of another", "tests/support/all.h": "of all"}
TESTS = {"m": ["own", "neighbour"]}


class TreeWithoutCompiler(building.Tree):
    """All compiles."""

    def configure(self):
        pass

    def compile(self, sources):
        return {}


class Project(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.top = self.folder / "project"
        for name, text in FILES.items():
            self.write(name, text)
        for command in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *command], cwd=self.top, check=True)
        for module in (building, places):
            self.addCleanup(setattr, module, "TOP", module.TOP)
            module.TOP = self.top
        outcomes.digest_of.cache_clear()

    def write(self, name, text):
        (self.top / name).parent.mkdir(parents=True, exist_ok=True)
        (self.top / name).write_text(text)
        outcomes.digest_of.cache_clear()

    def all(self):
        return places.numbered(places.everything(["m"]))


class Builds(Project):
    def draw(self, *seeds):
        every = self.all()
        return {number: every[number] for seed in seeds for number in places.drawn(every, seed, 12)}

    def build(self, mutants):
        """The sources of the copy, and when each was written."""
        tree = TreeWithoutCompiler(self.folder / "state", 1)
        tree.instrument(mutants, self.all())
        self.assertLessEqual(set(mutants), set(tree.alive_in))
        return {path: (path.read_text(), path.stat().st_mtime_ns) for path in sorted(tree.top.rglob("*.cpp"))}

    def test_of_several_seeds_are_one(self):
        both = self.build(self.draw(1, 2))
        self.assertEqual(both, self.build(self.draw(2)))
        self.assertEqual(both, self.build(self.draw(1)))

    def test_of_a_later_seed_keep_what_was_there(self):
        self.build(self.draw(1))
        both = self.build(self.draw(2))
        self.assertEqual(both, self.build(self.draw(1)))
        self.assertNotEqual(self.draw(1).keys(), self.draw(2).keys())

    def test_of_a_changed_source_forget_its_mutants(self):
        self.build(self.draw(1))
        self.write("src/m/a.cpp", SOURCE.replace("a * b", "a / b"))
        tree = TreeWithoutCompiler(self.folder / "state", 1)
        tree.instrument({}, self.all())
        self.assertEqual({m.file for n, m in self.all().items() if n in tree.alive_in}, {"src/m/b.cpp"})

    def test_number_a_mutant_alike_for_all_seeds(self):
        every = self.all()
        self.assertEqual(sorted(every), sorted(places.drawn(every, 1, len(every))))
        self.assertEqual(places.drawn(every, 1, 3), places.drawn(every, 1, 6)[:3])


class Outcomes(Project):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "outcomes.tsv"
        self.killed, self.living, self.broken = list(self.all().values())[:3]
        here = outcomes.Results(self.file, TESTS)
        with contextlib.redirect_stderr(io.StringIO()):
            here.add(self.killed, "killed by own.Suite.Test")
            here.add(self.living, "survived")
            here.add(self.broken, "does not compile")

    def known(self):
        """As another machine has it."""
        shutil.copy(self.file, self.folder / "there.tsv")
        there = outcomes.Results(self.folder / "there.tsv", TESTS)
        return [there.of(mutant) for mutant in (self.killed, self.living, self.broken)]

    def test_are_kept(self):
        self.assertEqual(self.known(), ["killed by own.Suite.Test", "survived", "does not compile"])

    def test_hold_until_the_tests_change_that_decided(self):
        self.write("tests/neighbour/b_test.cpp", "new")
        self.assertEqual(self.known(), ["killed by own.Suite.Test", None, "does not compile"])
        self.write("tests/own/a_test.cpp", "changed")
        self.assertEqual(self.known(), [None, None, "does not compile"])

    def test_hold_until_what_all_tests_have_changes(self):
        self.write("tests/support/all.h", "changed")
        self.assertEqual(self.known(), [None, None, "does not compile"])

    def test_hold_until_the_source_changes(self):
        for name in ("src/m/a.cpp", "src/m/b.cpp"):
            self.write(name, (self.top / name).read_text() + "\n")
        self.assertEqual(self.known(), [None, None, None])

    def test_name_the_program_that_did_not_end(self):
        self.assertEqual(outcomes.program_of("killed by own: no end"), "own")

    def test_are_one_line_each_when_tidy(self):
        here = outcomes.Results(self.file, TESTS)
        with contextlib.redirect_stderr(io.StringIO()):
            here.add(self.living, "killed by neighbour.Suite.Test")
        self.assertEqual(len(self.file.read_text().splitlines()), 4)
        here.tidy()
        lines = self.file.read_text().splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines, sorted(lines))
        self.assertEqual(self.known()[1], "killed by neighbour.Suite.Test")


if __name__ == "__main__":
    unittest.main()

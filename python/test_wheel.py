# SPDX-License-Identifier: MIT
"""The package as pip installs it, by the commands of docs/install.md."""
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

from example_code import SOURCE, blocks

sys.path.insert(0, str(SOURCE / "python"))
import backend  # noqa: E402

BUILD = os.environ.get("PMUSIM_BUILD", "")


@unittest.skipUnless(BUILD, "PMUSIM_BUILD is not set: nothing is built")
class Wheel(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_is_installed_as_the_page_says(self) -> None:
        """In an environment of its own, from the tree's build instead of one from nothing."""
        (page,) = (block for block in blocks(SOURCE / "docs" / "install.md", "console") if "pip install" in block)
        prompts = [line.removeprefix("$ ") for line in page.splitlines() if line.startswith("$ ")]
        commands = [line.split("  #")[0].rstrip() for line in prompts]
        environment = {**os.environ, "PIP_CONFIG_SETTINGS": f"build-dir={BUILD}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        del environment["PYTHONPATH"]
        script = "\n".join(["set -e", *commands])
        script = script.replace("~/", f"{self.folder}/").replace(" .\n", f" {SOURCE}\n")
        done = subprocess.run(["sh", "-c", script], cwd=self.folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], [line for line in page.splitlines() if line][-1])

    def test_holds_the_package_and_its_types(self) -> None:
        name = backend.build_wheel(str(self.folder), {"build-dir": BUILD})
        with zipfile.ZipFile(self.folder / name) as wheel:
            names = wheel.namelist()
            self.assertIsNone(wheel.testzip())
        for file in ("__init__.py", "_pmusim.pyi", "errors.py", "py.typed", "table.py"):
            self.assertIn(f"pmusim/{file}", names)
        self.assertEqual(len([name for name in names if name.endswith(".so")]), 1)
        self.assertEqual({name.split("/")[0] for name in names}, {"pmusim", f"{backend.NAME}.dist-info"})
        again = self.folder / "again"
        again.mkdir()
        backend.build_wheel(str(again), {"build-dir": BUILD})
        self.assertEqual((again / name).read_bytes(), (self.folder / name).read_bytes())

    def test_of_a_tree_that_is_edited_names_its_build(self) -> None:
        name = backend.build_editable(str(self.folder), {"build-dir": BUILD})
        with zipfile.ZipFile(self.folder / name) as wheel:
            self.assertEqual(wheel.read("pmusim.pth").decode().strip(), str(Path(BUILD) / "python"))


@unittest.skipUnless(shutil.which("git") and (SOURCE / ".git").exists(), "no clone of git's: nothing lists its files")
class Sources(unittest.TestCase):
    def test_are_what_git_has(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory())
        with tarfile.open(Path(folder) / backend.build_sdist(folder)) as archive:
            names = archive.getnames()
            about = archive.extractfile(f"{backend.NAME}/PKG-INFO")
            assert about is not None
            self.assertIn(f"Version: {backend.VERSION}", about.read().decode().splitlines())
        for file in ("pyproject.toml", "CMakeLists.txt", "python/src/cpu.cpp"):
            self.assertIn(f"{backend.NAME}/{file}", names)
        self.assertFalse([name for name in names if "/build/" in name])


if __name__ == "__main__":
    unittest.main()

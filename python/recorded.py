# SPDX-License-Identifier: MIT
"""A recorded program for tests."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = os.environ.get("PMUSIM_COMMAND", "")


class Recorded(unittest.TestCase):
    """Has ``trace``, a recording of a workload."""

    rounds = 3000
    options: list[str] = []
    folder: Path
    trace: Path

    @classmethod
    def setUpClass(cls) -> None:
        if not COMMAND:
            raise unittest.SkipTest("PMUSIM_COMMAND is not set: nothing to record with")
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.trace = cls.folder / "branches.pmutrace"
        record = [COMMAND, "trace", "record", *cls.options, "-o", str(cls.trace), "--"]
        subprocess.run([*record, os.environ["PMUSIM_WORKLOAD"], str(cls.rounds)], check=True, capture_output=True)

# SPDX-License-Identifier: MIT
"""The notebook, the page and the examples do what they say."""
import contextlib
import doctest
import json
import unittest
from typing import Any

import pmusim
from example_code import NOTEBOOK, SOURCE, blocks, notebook_code
from recorded import Recorded


class Notebook(unittest.TestCase):
    def test_is_one_without_outputs(self) -> None:
        notebook = json.loads(NOTEBOOK.read_text())
        self.assertEqual((notebook["nbformat"], notebook["nbformat_minor"]), (4, 5))
        for cell in notebook["cells"]:
            self.assertIn(cell["cell_type"], ("code", "markdown"))
            self.assertRegex(cell["id"], r"^[a-zA-Z0-9-_]{1,64}$")
            self.assertIsInstance(cell["source"], list)
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))

    def test_draws_its_plot(self) -> None:
        try:
            import matplotlib.pyplot as plt
        except ModuleNotFoundError:
            self.skipTest("matplotlib is not installed")
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(notebook_code(), str(NOTEBOOK), "exec"), names)
        self.assertEqual(len(plt.get_fignums()), 1)
        self.assertEqual([text.get_text() for text in names["axes"].get_legend().get_texts()], ["PEBS", "interrupts"])


class Page(Recorded):
    def test_shows_what_the_package_does(self) -> None:
        text = "\n".join(blocks(SOURCE / "docs" / "python.md", "pycon"))
        examples = doctest.DocTestParser().get_doctest(text, {}, "docs/python.md", "docs/python.md", 0)
        self.assertGreater(len(examples.examples), 20)
        with contextlib.chdir(self.folder):
            self.trace.rename("T")
            self.assertEqual(doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples).failed, 0)

    def test_of_the_package_does_too(self) -> None:
        self.assertEqual(doctest.testmod(pmusim).failed, 0)


class Examples(unittest.TestCase):
    def test_get_to_the_first_sample_in_ten_lines(self) -> None:
        example = SOURCE / "examples" / "python" / "first_pebs.py"
        self.assertLessEqual(len(example.read_text().splitlines()), 10)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""The examples in pages and notebooks, for tests."""
import json
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
NOTEBOOK = SOURCE / "examples" / "python" / "pebs.ipynb"


def notebook_code() -> str:
    """The code of the notebook, cell after cell."""
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code") + "\n"


def blocks(page: Path, language: str) -> Iterator[str]:
    """What stands between ```language and ``` in a page."""
    for part in page.read_text().split(f"\n```{language}\n")[1:]:
        yield part.split("\n```", 1)[0] + "\n"

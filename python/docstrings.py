# SPDX-License-Identifier: MIT
"""STUB: writes the docstrings of a stub as a table for C++, by name: "Cpu.rdmsr"."""
import ast
import sys
from collections.abc import Iterator
from pathlib import Path


def docstrings(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield prefix + node.name, text
            yield from docstrings(node.body, prefix + node.name + ".")


def main() -> None:
    print("#include <string_view>\n#include <utility>\n")
    print("constexpr std::pair<std::string_view, const char*> docstrings[] = {")
    for name, text in docstrings(ast.parse(Path(sys.argv[1]).read_text()).body):
        print(f'{{"{name}", R"doc({text})doc"}},')
    print("};")


if __name__ == "__main__":
    main()

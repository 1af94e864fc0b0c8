# SPDX-License-Identifier: MIT
"""What the stub says is what the module has."""
import ast
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path

import pmusim
from example_code import SOURCE, notebook_code
from pmusim import _pmusim

CONFIGURATION = SOURCE / "pyproject.toml"
STUB = Path(_pmusim.__file__).with_name("_pmusim.pyi")


def functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from functions(node.body, node.name + ".")
        elif isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node


def parameters(function: ast.FunctionDef) -> list[tuple[str, bool]]:
    """Names, and whether they have a default."""
    arguments = function.args
    names = [argument.arg for argument in arguments.args]
    defaults = [False] * (len(names) - len(arguments.defaults)) + [True] * len(arguments.defaults)
    names += [argument.arg for argument in arguments.kwonlyargs]
    defaults += [default is not None for default in arguments.kw_defaults]
    return [pair for pair in zip(names, defaults) if pair[0] != "self"]


def in_the_module(function: object) -> ast.FunctionDef:
    """As pybind11 writes it into the first line of the docstring."""
    signature = str(getattr(function, "__doc__")).splitlines()[0].replace("arg0: ", "self: ")
    (parsed,) = ast.parse(f"def {signature}: ...").body
    assert isinstance(parsed, ast.FunctionDef)
    return parsed


def name_of(node: ast.stmt) -> str:
    return node.name if isinstance(node, ast.FunctionDef) else ""


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class Mypy(unittest.TestCase):
    def check(self, *arguments: str | Path) -> None:
        environment = {**os.environ, "MYPYPATH": f"{STUB.parents[1]}:{SOURCE / 'python'}"}
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", *map(str, arguments)]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_passes_over_all_of_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            example = Path(folder) / "notebook.py"
            example.write_text(notebook_code())
            files = [*(SOURCE / "python").glob("*.py"), *(SOURCE / "examples" / "python").glob("*.py"), example]
            self.check("mypy", "--config-file", CONFIGURATION, "-p", "pmusim")
            self.check("mypy", "--config-file", CONFIGURATION, *files)

    def test_finds_the_stub_in_the_module(self) -> None:
        body = ast.parse(STUB.read_text()).body
        classes = [node for node in body if isinstance(node, ast.ClassDef) and not node.bases]
        # pybind11's classes have a metaclass of its own, and those that nobody makes an __init__ that says so.
        known = [rf"pmusim\._pmusim\.{one.name}" for one in classes]
        known += [rf"{name}\.__init__" for name, one in zip(known, classes) if "__init__" not in map(name_of, one.body)]
        with tempfile.NamedTemporaryFile("w") as allowed:
            allowed.write("\n".join(known))
            allowed.flush()
            options = ["--concise", "--mypy-config-file", str(CONFIGURATION), "--allowlist", allowed.name]
            self.check("mypy.stubtest", *options, "pmusim._pmusim")


class Stub(unittest.TestCase):
    def test_has_the_parameters_of_the_module(self) -> None:
        compared = 0
        for name, stub in functions(ast.parse(STUB.read_text()).body):
            owner, _, method = name.rpartition(".")
            function = getattr(getattr(_pmusim, owner) if owner else _pmusim, method)
            if "property" in ast.dump(ast.Module(list(stub.decorator_list), [])) or method in ("__repr__", "__exit__"):
                continue
            with self.subTest(name):
                self.assertEqual(parameters(in_the_module(function)), parameters(stub))
                compared += 1
        self.assertGreater(compared, 60)

    def test_documents_everything(self) -> None:
        for name in pmusim.__all__:
            with self.subTest(name):
                self.assertTrue(inspect.getdoc(getattr(pmusim, name)))
        for name in dir(pmusim.Cpu):
            if not name.startswith("_"):
                with self.subTest(name):
                    self.assertGreater(len((inspect.getdoc(getattr(pmusim.Cpu, name)) or "").split("\n\n")[-1]), 5)


class Representations(unittest.TestCase):
    def test_say_what_it_is(self) -> None:
        program = pmusim.Program(0x500000)
        cpu = pmusim.Cpu("skylake")
        cpu.map(0x1000, 8)
        seen: list[object] = []
        cpu.observe(seen.append, pmusim.EventKind.OVERFLOW)
        cpu.wrmsr("IA32_PMC0", 2**32 - 1)
        cpu.wrmsr("IA32_PERFEVTSEL0", 0x5100C0)
        cpu.wrmsr("IA32_PERF_GLOBAL_CTRL", 1)
        cpu.wrmsr(0x834, 0x400)
        cpu.on_pmi(seen.append)
        cpu.instructions(100)
        report = pmusim.explore(pmusim.Cpu(), lambda cpu, run: seen.append(run))
        with program.loop(2) as body:
            self.assertIs(body, program)
        expected = {
            repr(program): "<pmusim.Program at 0x500000>",
            repr(program.call()): "<pmusim.Body of <pmusim.Program at 0x500000>>",
            repr(cpu): "<pmusim.Cpu skylake, cycle 100>",
            repr(cpu.snapshot()): "<pmusim.Snapshot of skylake, cycle 100>",
            repr(seen[0]): "<pmusim.Event OVERFLOW, cycle 1>",
            repr(seen[-1]): "<pmusim.Run>",
            repr(report): "<pmusim.Report: 1 runs, nothing found>",
            repr(pmusim.Access(0x10, "store")): "<pmusim.Access store at 0x10>",
            repr(pmusim.Instruction(0x1000, branch="conditional")): "<pmusim.Instruction at 0x1000, conditional>",
            repr(pmusim.Table({})): "<pmusim.Table: 0 rows of >",
            repr(pmusim.Error("why")): "Error('why')",
        }
        for shown, wanted in expected.items():
            self.assertEqual(shown, wanted)
        self.assertRegex(repr(seen[1]), r"<pmusim.Interrupt at 0x401\w+, ring 3, cycle \d+>")

    def test_of_errors_name_the_package(self) -> None:
        for name in ("Cpu", "Error", "Fault", "Table", "Samples", "EventKind"):
            self.assertEqual(getattr(pmusim, name).__module__, "pmusim")


if __name__ == "__main__":
    unittest.main()

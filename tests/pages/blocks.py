#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the code blocks of a page, as a reader would who has pmusim installed.

  blocks.py PAGE --prefix FOLDER --program FILE      all blocks; ./prog of the page is that program
  blocks.py PAGE --section HEADING --shell COMMAND   the console blocks of a section, by that shell

The blocks of a page run in one temporary folder, in their order:

  console         each line behind "$ " is a command, which has to succeed. Where lines stand under it, these are what it
                  prints, to both outputs; a line "..." stands for any lines, "..." in a line for any text.
  cpp             compiles; what is outside a function is put into main(), behind the block's #include lines
  cmake           configures, in a project with the target driver_test
  python, sh      runs

A comment in the line before a block says what else is to be known of it:

  <!-- part of FILE -->        it is a piece of that file of the tree, which other tests compile or run
  <!-- any numbers -->         a number that it shows stands for any number, a blank for any blanks
  <!-- not run: REASON -->

A block in another language needs one of these comments; one without a language is text.
"""
import argparse
import dataclasses
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Block:
    line: int
    section: str
    language: str
    remarks: list
    text: str

    def remark(self, key):
        """What a comment says behind `key`, or None."""
        return next((remark[len(key):].strip(" :") for remark in self.remarks if remark.startswith(key)), None)


def blocks_of(page):
    section, remarks, block = "", [], None
    for number, line in enumerate(page.read_text().splitlines(keepends=True), 1):
        comment = re.fullmatch(r"<!-- (.*) -->\n", line)
        if block and line == "```\n":
            yield block
            block, remarks = None, []
        elif block:
            block.text += line
        elif line.startswith("```"):
            block = Block(number, section, line[3:].strip(), remarks, "")
        elif comment:
            remarks.append(comment[1])
        else:
            remarks = []
            section = line.lstrip("# ").strip() if line.startswith("#") else section
    if block:
        raise ValueError(f"line {block.line}: a block without an end")


def commands_of(text):
    """[command, what the page shows under it], of a console block."""
    commands, goes_on = [], False
    for line in text.splitlines(keepends=True):
        if line.startswith("$ ") or goes_on:
            if not goes_on:
                commands.append(["", ""])
            commands[-1][0] += line if goes_on else line[2:]
            goes_on = line.endswith("\\\n")
        elif commands:
            commands[-1][1] += line
        else:
            raise ValueError("a console block begins with a command behind '$ '")
    return commands


def pattern(shown, any_numbers):
    """What output has to match to be what a page shows."""
    def of(text):
        if not any_numbers:
            return re.escape(text)
        text = re.sub(r"\d[\d,.]*", "\0", re.sub(r"\s+", " ", text))
        return re.escape(text).replace("\0", r"\d[\d,.]*").replace(r"\ ", r"\s+")

    def of_line(line):
        return r"(?:.*\n)*?" if line == "..." else ".*?".join(map(of, line.split("..."))) + "\n"

    return "".join(map(of_line, shown.splitlines()))


class Reader:
    """Who reads the page, and tries what it says."""

    def __init__(self, options, folder):
        self.folder, self.shell, self.environment = folder, options.shell, dict(os.environ)
        if options.prefix:
            self.install(options.prefix.resolve())
        for name, file in [("prog", options.program), ("driver_test.c", SOURCE / "examples/sampling.c"),
                           ("driver_test.cpp", SOURCE / "tests/consumer/hardware.cpp")]:
            if file:
                (folder / name).symlink_to(file.resolve())

    def install(self, prefix):
        libraries = next(prefix.glob("lib*/**/pkgconfig")).parent
        for name, place in [("PATH", prefix / "bin"), ("PKG_CONFIG_PATH", libraries / "pkgconfig"),
                            ("LD_LIBRARY_PATH", libraries), ("PYTHONPATH", prefix / "lib/python3/dist-packages"),
                            ("CMAKE_PREFIX_PATH", prefix)]:
            self.environment[name] = os.pathsep.join(filter(None, [str(place), self.environment.get(name)]))

    def run(self, command, folder=None):
        """What the command prints; an exception where it fails."""
        done = subprocess.run(command, cwd=folder or self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode:
            raise ValueError(f"{shlex.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def console(self, block):
        for command, shown in commands_of(block.text):
            printed = self.run([*self.shell, "-o", "pipefail", "-c", command])
            if shown and not re.fullmatch(pattern(shown, block.remark("any numbers") is not None), printed):
                raise ValueError(f"{command}" + "".join(difflib.unified_diff(
                    shown.splitlines(True), printed.splitlines(True), "the page", "printed")))

    def sh(self, block):
        self.run([*self.shell, "-o", "pipefail", "-ec", block.text])

    def python(self, block):
        self.run([sys.executable, "-c", block.text])

    def cpp(self, block):
        source = self.folder / "block.cpp"
        includes = "".join(re.findall(r"^#include.*\n", block.text, re.MULTILINE))
        program = f"{includes}int main() {{\n{block.text.replace(includes, '')}}}\n"
        source.write_text(block.text if "int main(" in block.text else program)
        self.run([*shlex.split(self.environment.get("CXX", "c++")), "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra",
                  "-Werror", "-Wno-missing-field-initializers", "-Wno-unused-variable", "-Wno-unused-but-set-variable",
                  f"-I{SOURCE}/include", source])

    def cmake(self, block):
        project = self.folder / f"cmake-{block.line}"
        project.mkdir()
        for name in ["driver_test.c", "driver_test.cpp"]:
            (project / name).symlink_to((self.folder / name).resolve())
        self.run(["git", "clone", "-q", "--shared", SOURCE, project / "pmusim"])
        self.run(["git", "-C", project / "pmusim", "checkout", "-q", "-B", "main"])
        (project / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(page LANGUAGES C CXX)\n"
                                                f"add_executable(driver_test driver_test.c)\n{block.text}")
        self.run(["cmake", "-G", "Ninja", "-B", project / "build", project])


def try_block(reader, block):
    """What became of the block, in a word."""
    file = block.remark("part of")
    if file and "\n" + block.text not in "\n" + (SOURCE / file).read_text():
        raise ValueError(f"is no part of {file}")
    if block.remark("not run") is not None:
        if not block.remark("not run"):
            raise ValueError("'not run' without a reason")
        return "not run"
    if file:
        return "shown"
    if block.language not in ("console", "sh", "python", "cpp", "cmake"):
        raise ValueError(f"nothing runs '{block.language}': expected <!-- part of FILE --> or <!-- not run: REASON -->")
    getattr(reader, block.language)(block)
    return "run"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--prefix", type=pathlib.Path, help="where pmusim is installed")
    parser.add_argument("--program", type=pathlib.Path, help="what ./prog is")
    parser.add_argument("--section", help="a heading of the page: its console blocks alone")
    parser.add_argument("--shell", type=shlex.split, default=["bash"], help="what runs commands (default: bash)")
    options = parser.parse_args()

    tried = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(options, pathlib.Path(folder))
        for block in blocks_of(options.page):
            if not block.language or options.section and (block.section, block.language) != (options.section, "console"):
                continue
            tried += 1
            try:
                print(f"{options.page}:{block.line}: {block.language}: {try_block(reader, block)}", flush=True)
            except ValueError as why:
                failed += 1
                print(f"{options.page}:{block.line}: {block.language}: {why}", flush=True)
    if not tried:
        sys.exit(f"{options.page}: no such block")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

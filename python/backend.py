# SPDX-License-Identifier: MIT
"""Builds the package for pip (PEP 517, PEP 660): CMake compiles it, what it installs goes into a wheel.

pip's --config-settings build-dir=DIR names a build folder of the tree that is configured already; without it the build
is in build/wheel.
"""
import base64
import hashlib
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
VERSION = (SOURCE / "include/pmusim/version.h").read_text().split('string_view version = "')[1].split('"')[0]
NAME = f"{PROJECT['name']}-{VERSION}"
Settings = Mapping[str, str] | None
Files = Iterator[tuple[str, bytes]]


def run(*command: str | Path) -> None:
    subprocess.run([str(word) for word in command], cwd=SOURCE, check=True, stdout=sys.stderr)


def compiled(settings: Settings) -> Path:
    """The folder in which the package has been built."""
    given = (settings or {}).get("build-dir")
    build = Path(given).resolve() if given else SOURCE / "build" / "wheel"
    if not given:
        run("cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPMUSIM_JOINED=ON",
            "-DPMUSIM_TESTS=OFF", "-DPMUSIM_BENCHMARKS=OFF", "-DPMUSIM_PYTHON=ON",
            f"-DPYTHON_EXECUTABLE={sys.executable}")
    run("cmake", "--build", build, "--target", "pmusim_python")
    return build


def installed(build: Path) -> Files:
    with tempfile.TemporaryDirectory() as prefix:
        run("cmake", "--install", build, "--component", "python", "--prefix", prefix, "--strip")
        root = Path(prefix) / "lib/python3/dist-packages"
        for file in sorted(path for path in root.rglob("*") if path.is_file()):
            yield file.relative_to(root).as_posix(), file.read_bytes()


def metadata() -> bytes:
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {VERSION}",
             f"Summary: {PROJECT['description']}", f"License: {PROJECT['license']['text']}",
             f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in PROJECT["dependencies"]]
    for extra, names in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {name}; extra == "{extra}"' for name in names)]
    return "\n".join([*lines, "", ""]).encode()


def entry(name: str) -> zipfile.ZipInfo:
    """Without a time: equal contents are equal wheels."""
    info = zipfile.ZipInfo(name)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return info


def write_wheel(directory: str, files: Files) -> str:
    abi = sysconfig.get_config_var("SOABI").split("-")[1]
    tag = f"cp{abi}-cp{abi}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    wheel, record = f"{NAME}-{tag}.whl", f"{NAME}.dist-info/RECORD"
    format = f"Wheel-Version: 1.0\nGenerator: pmusim\nRoot-Is-Purelib: false\nTag: {tag}\n"
    about = [
        (f"{NAME}.dist-info/METADATA", metadata()),
        (f"{NAME}.dist-info/WHEEL", format.encode()),
        (f"{NAME}.dist-info/LICENSE", (SOURCE / "LICENSE").read_bytes()),
    ]
    with zipfile.ZipFile(Path(directory) / wheel, "w") as archive:
        rows = []
        for name, content in [*files, *about]:
            archive.writestr(entry(name), content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(content)}\n")
        archive.writestr(entry(record), "".join([*rows, f"{record},,\n"]))
    return wheel


def build_wheel(directory: str, settings: Settings = None, metadata_directory: str | None = None) -> str:
    return write_wheel(directory, installed(compiled(settings)))


def build_editable(directory: str, settings: Settings = None, metadata_directory: str | None = None) -> str:
    """The build's own package, whose sources are those of the tree."""
    path = f"{compiled(settings) / 'python'}\n".encode()
    return write_wheel(directory, iter([(f"{PROJECT['name']}.pth", path)]))


def build_sdist(directory: str, settings: Settings = None) -> str:
    """What git has."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=SOURCE, check=True, capture_output=True, text=True).stdout
    name = f"{NAME}.tar.gz"
    with tempfile.NamedTemporaryFile() as about, tarfile.open(Path(directory) / name, "w:gz") as archive:
        Path(about.name).write_bytes(metadata())
        archive.add(about.name, f"{NAME}/PKG-INFO")
        for file in listed.rstrip("\0").split("\0"):
            archive.add(SOURCE / file, f"{NAME}/{file}")
    return name

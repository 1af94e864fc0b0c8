# SPDX-License-Identifier: MIT
"""Conan 2 recipe of the hardware alone: `conan create packaging/conan`, then requires = "pmusim/<version>".

The whole pipeline needs Zydis, libpfm4, libipt and elfutils, which Conan Center does not have together: install it from
the Debian packages (docs/install.md).
"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Pmusim(ConanFile):
    name = "pmusim"
    license = "MIT"
    description = "Cycle-level x86 PMU hardware emulator library"
    topics = ("pmu", "perf", "emulator", "x86")
    package_type = "static-library"
    settings = "os", "compiler", "build_type", "arch"
    requires = "boost/[>=1.74]", "fmt/[>=9]"
    default_options = {"boost/*:header_only": True}

    @property
    def _tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._tree, "include", "pmusim", "version.h"))
        self.version = re.search(r'std::string_view version = "([0-9.]+)"', header).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "CHANGELOG.md", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, self._tree, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ("PMUSIM_TOOLS", "PMUSIM_TESTS", "PMUSIM_BENCHMARKS"):
            toolchain.cache_variables[option] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_target_name", "pmusim::hardware")
        self.cpp_info.libs = ["pmusim_hardware"]
        self.cpp_info.requires = ["boost::headers", "fmt::fmt"]

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_ARCHITECTURE_MODULES_H
#define PMUSIM_TESTS_ARCHITECTURE_MODULES_H

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace pmusim::test {

using Modules = std::set<std::string>;

inline std::filesystem::path source_tree() { return PMUSIM_SOURCE_DIR; }

inline std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline Modules words(const std::string& text) {
  std::istringstream in(text);
  Modules found;
  for (std::string word; in >> word;) found.insert(word);
  return found;
}

/// Module to the modules that it may include, as the build's pmusim_module(NAME MODULES ...) lines say.
inline std::map<std::string, Modules> modules_of_the_build() {
  static const std::regex line(R"(pmusim_module\((\w+)(?:\s+COMPILE_\w+)?(?:\s+MODULES\s+([a-z0-9\s]+))?)");
  const std::string build = contents(source_tree() / "CMakeLists.txt");
  std::map<std::string, Modules> modules;
  for (std::sregex_iterator module(build.begin(), build.end(), line), end; module != end; ++module)
    modules[(*module)[1]] = words((*module)[2]);
  return modules;
}

}  // namespace pmusim::test

#endif

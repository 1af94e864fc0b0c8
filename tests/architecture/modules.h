// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_ARCHITECTURE_ROOMS_H
#define PMUSIM_TESTS_ARCHITECTURE_ROOMS_H

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace pmusim::test {

using Rooms = std::set<std::string>;

inline std::filesystem::path source_tree() { return PMUSIM_SOURCE_DIR; }

inline std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline Rooms words(const std::string& text) {
  std::istringstream in(text);
  Rooms found;
  for (std::string word; in >> word;) found.insert(word);
  return found;
}

/// Room to the rooms that it may include, as the build's pmusim_room(NAME ROOMS ...) lines say.
inline std::map<std::string, Rooms> rooms_of_the_build() {
  static const std::regex line(R"(pmusim_room\((\w+)(?:\s+COMPILE_FAST)?(?:\s+ROOMS\s+([a-z0-9\s]+))?)");
  const std::string build = contents(source_tree() / "CMakeLists.txt");
  std::map<std::string, Rooms> rooms;
  for (std::sregex_iterator room(build.begin(), build.end(), line), end; room != end; ++room)
    rooms[(*room)[1]] = words((*room)[2]);
  return rooms;
}

}  // namespace pmusim::test

#endif

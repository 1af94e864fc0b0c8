// SPDX-License-Identifier: MIT
// Every source, script and build file says under which licence it is, in its first lines.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;

constexpr std::string_view sentence = "SPDX-License-Identifier: MIT";
constexpr std::string_view kernels_sentence = "SPDX-License-Identifier: GPL-2.0";

bool is_source(const fs::path& file) {
  static const std::set<std::string> endings{".h", ".cpp", ".c", ".cmake", ".sh", ".awk", ".js", ".css"};
  return endings.contains(file.extension()) || file.filename() == "CMakeLists.txt";
}

/// The first line; of a script the second, since the first names its interpreter.
std::string line_for_licence(const fs::path& file) {
  std::ifstream text(file);
  std::string line;
  std::getline(text, line);
  if (line.starts_with("#!")) std::getline(text, line);
  return line;
}

void expect_licence(const fs::path& file) {
  EXPECT_NE(line_for_licence(file).find(sentence), std::string::npos) << file;
}

TEST(Licence, IsNamedByEverySource) {
  const fs::path top = PMUSIM_SOURCE_DIR;
  int seen = 0;
  for (const char* tree : {"bench", "cmake", "examples", "include", "scripts", "src", "tests", "tools"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top / tree)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      ++seen;
      expect_licence(entry.path());
    }
  EXPECT_GT(seen, 0) << "the search found nothing to check";
  for (const char* file : {"CMakeLists.txt", ".ci/run"}) expect_licence(top / file);
}

/// What includes headers of a kernel is under the kernel's licence, and apart from everything else.
TEST(Licence, IsTheKernelsWhereItsHeadersAreIncluded) {
  const fs::path glue = fs::path(PMUSIM_SOURCE_DIR) / "linux/glue",
                 host = fs::path(PMUSIM_SOURCE_DIR) / "linux/host";
  for (const fs::directory_entry& entry : fs::directory_iterator(glue))
    EXPECT_NE(line_for_licence(entry.path()).find(kernels_sentence), std::string::npos) << entry.path();
  for (const fs::directory_entry& entry : fs::directory_iterator(host)) expect_licence(entry.path());
}

/// The same of an emulator's headers.
TEST(Licence, IsTheEmulatorsWhereItsHeadersAreIncluded) {
  const fs::path machine = fs::path(PMUSIM_SOURCE_DIR) / "machine";
  int of_glue = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(machine / "glue")) {
    if (!entry.is_regular_file()) continue;
    ++of_glue;
    EXPECT_NE(line_for_licence(entry.path()).find("SPDX-License-Identifier: GPL-2.0-only"), std::string::npos)
        << entry.path();
  }
  EXPECT_GT(of_glue, 0) << "the search found nothing to check";
  for (const char* folder : {"pmu", "host", "guest"})
    for (const fs::directory_entry& entry : fs::directory_iterator(machine / folder))
      expect_licence(entry.path());
}

}  // namespace

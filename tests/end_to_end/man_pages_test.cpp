// SPDX-License-Identifier: MIT
// The manual pages are the help texts, and man and mandoc have nothing to say against them.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

struct ManPages : ::testing::Test {
  ManPages() {
    const Output made = run({pmusim(), "help", "--man-pages", folder.path().string()});
    EXPECT_EQ(made.status, 0) << made.err;
    for (const fs::directory_entry& page : fs::directory_iterator(folder.path()))
      pages.insert({page.path().stem(), page.path()});
  }
  /// What a reader sees of a page, with lines that are never broken.
  std::string shown(const std::string& name) const {
    return run({"env", "MANWIDTH=1000", "LC_ALL=C.UTF-8", "man", "-P", "cat", "-l", pages.at(name)}).out;
  }

  ScratchDirectory folder;
  std::map<std::string, std::string> pages;
};

TEST_F(ManPages, AreThereForEveryCommand) {
  std::vector<std::string> names;
  for (const auto& [name, path] : pages) names.push_back(name);
  EXPECT_THAT(names, IsSupersetOf({"pmusim", "pmusim-record", "pmusim-stat", "pmusim-trace",
                                   "pmusim-trace-record", "pmusim-experiment-acr"}));
}

TEST_F(ManPages, AreWellFormed) {
  for (const auto& [name, path] : pages) {
    const Output by_man =
        run({"env", "LC_ALL=C.UTF-8", "man", "--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l", path});
    EXPECT_EQ(by_man.status, 0) << name;
    EXPECT_EQ(by_man.err, "") << name;
    for (const std::string& complaint : lines(run({"mandoc", "-T", "lint", "-W", "warning", path}).out))
      EXPECT_THAT(complaint, HasSubstr("missing date"))
          << name << ": the same text is the same page on every day";
  }
}

TEST_F(ManPages, SayWhatTheHelpSays) {
  const std::string page = shown("pmusim-trace-record"),
                    help = run({pmusim(), "trace", "record", "--help"}).out;
  for (const std::string line : {"Begin where a thread reaches this function of the program or a library",
                                 "pmusim trace record --start-symbol main --count 1000000 ./program",
                                 "SIGTERM, HUP, QUIT... end program and recording, which is kept."}) {
    EXPECT_THAT(help, HasSubstr(line));
    EXPECT_THAT(page, HasSubstr(line));
  }
  EXPECT_THAT(page, HasSubstr("--start-symbol"));
  EXPECT_THAT(page, HasSubstr("Part of the run"));
}

TEST_F(ManPages, KeepBackslashesQuotesAndDots) {
  EXPECT_THAT(shown("pmusim-list"), HasSubstr("pmusim list --model skylake 'br_misp*'"));
}

TEST(ManPagesFolder, ThatIsNotThereIsOneSentence) {
  const Output output = run({pmusim(), "help", "--man-pages", "/nonexistent"});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.err, "pmusim: /nonexistent/pmusim.1: cannot be written: No such file or directory\n");
}

}  // namespace
}  // namespace pmusim::test

// SPDX-License-Identifier: MIT
// pmusim report on a terminal, which tmux is: keys go in, and what stands on its screen comes out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/end_to_end/command.h"
#include "tests/end_to_end/terminal.h"

namespace pmusim::test::report_browser_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReportBrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (!installed("tmux")) GTEST_SKIP() << "tmux is not installed";
    ASSERT_EQ(run({pmusim(), "record", "-q", "-b", "-e", "cycles:upp", "-c", "211", "-o", data_,
                   recorded("branches", {"400"})})
                  .status,
              0);
  }
  std::string command(const std::string& options = "") const {
    return fmt::format("{} report -i {} {}", pmusim(), data_, options);
  }
  std::string text() const { return run({pmusim(), "report", "-i", data_}).out; }
  std::string socket() const { return scratch_.file("tmux"); }

  ScratchDirectory scratch_;
  std::string data_ = scratch_.file("perf.data");
};

TEST_F(ReportBrowser, ShowsTheRowsOfTheText) {
  const Terminal terminal(socket(), command());
  const std::string screen = terminal.screen_with("q quit");
  const std::vector<std::string> rows = lines(screen), expected = lines(text());
  std::size_t compared = 0;
  for (const std::string& row : rows)
    if (row.find("% ") != row.npos) {
      EXPECT_THAT(expected, testing::Contains(testing::StartsWith(row)));
      ++compared;
    }
  EXPECT_GE(compared, 15u) << screen;
  EXPECT_THAT(rows.at(0), testing::StartsWith("# cycles:upp: "));
  EXPECT_THAT(rows.at(1), HasSubstr("Overhead   Samples  Module               Symbol"));
}

TEST_F(ReportBrowser, FiltersRowsAndZoomsIntoTheirCode) {
  const Terminal terminal(socket(), command("--tui"));
  terminal.screen_with("q quit");
  terminal.keys({"/", "lfsr", "Enter"});
  const std::string filtered = terminal.screen_with("rows with \"lfsr\"");
  EXPECT_THAT(filtered, HasSubstr("1/1 "));
  EXPECT_THAT(filtered, Not(HasSubstr("do_lookup_x")));
  terminal.keys({"Enter"});
  const std::string code = terminal.screen_with("q back");
  EXPECT_THAT(code, testing::StartsWith("lfsr (/"));
  const std::string annotated = run({pmusim(), "annotate", "-i", data_}).out;
  std::size_t compared = 0;
  for (const std::string& line : lines(code))
    if (line.find(":  ") != line.npos) {
      std::string instruction = line.substr(line.find(':'), line.find("  #") - line.find(':'));
      instruction.resize(instruction.find_last_not_of(' ') + 1);
      EXPECT_NE(annotated.find(instruction), annotated.npos) << line;  // behind it a tab, and a comment
      ++compared;
    }
  EXPECT_GE(compared, 5u) << code;
  terminal.keys({"/", "ret", "Enter"});
  EXPECT_THAT(terminal.screen_with("ret"), HasSubstr(" ret"));
  terminal.keys({"/", "BSpace", "BSpace", "BSpace", "none such", "Enter"});
  EXPECT_THAT(terminal.screen_with("no line with"), HasSubstr("no line with \"none such\" below"));
  terminal.keys({"?"});
  EXPECT_THAT(terminal.screen_with("this help"), HasSubstr("Keys"));
  terminal.keys({"q", "q", "q"});
  EXPECT_THAT(terminal.screen_with("left with"), HasSubstr("left with 0"));
}

TEST_F(ReportBrowser, IsLeftOutWhereTextWasAskedFor) {
  const Terminal plain(socket(), "PAGER=cat " + command("--stdio"));
  EXPECT_THAT(plain.screen_with("left with"), HasSubstr("left with 0"));
}

TEST_F(ReportBrowser, NeedsATerminalThatCanBeDrawnOn) {
  const Output refused = run({pmusim(), "report", "-i", data_, "--tui"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--tui: expected a terminal"));
  const Terminal dumb(socket(), command("--tui"), "dumb");
  EXPECT_THAT(dumb.screen_with("left with"), HasSubstr("left with 2"));
}

}  // namespace
}  // namespace pmusim::test::report_browser_test

// SPDX-License-Identifier: MIT
// What pmusim prints on a terminal, which tmux is, goes through a pager.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "tests/end_to_end/command.h"
#include "tests/end_to_end/terminal.h"

namespace pmusim::test::pager_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PagerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!installed("tmux")) GTEST_SKIP() << "tmux is not installed";
  }
  /// A terminal with `variables pmusim arguments` in it.
  Terminal started(const std::string& variables, const std::string& arguments) const {
    return Terminal(scratch_.file(fmt::format("socket{}", ++terminals_)),
                    fmt::format("{} {} {}", variables, pmusim(), arguments));
  }
  /// What is on it once the command has ended.
  std::string printed(const std::string& variables, const std::string& arguments) const {
    return started(variables, arguments).screen_with("left with");
  }
  ScratchDirectory scratch_;
  mutable unsigned terminals_ = 0;
};

constexpr const char* marking = "PMUSIM_PAGER=\"sed s/^/paged:/\"";

TEST_F(PagerTest, ATerminalGetsWhatThePagerMakesOfIt) {
  EXPECT_THAT(printed(marking, "models skylake"),
              AllOf(HasSubstr("\npaged:skylake"), HasSubstr("\nleft with 0")));
  EXPECT_THAT(printed("PAGER=\"sed s/^/paged:/\"", "models skylake"), HasSubstr("\npaged:skylake"));
}

TEST_F(PagerTest, IsLeftOutWhereItIsNotWanted) {
  for (const std::string how : {"--no-pager models skylake", "models skylake | tail -n 3"})
    EXPECT_THAT(printed(marking, how), AllOf(HasSubstr("skylake"), Not(HasSubstr("paged:")))) << how;
  EXPECT_THAT(printed("PAGER=cat", "models skylake"), HasSubstr("skylake"));
  EXPECT_THAT(printed("PAGER=", "models skylake"), HasSubstr("skylake"));
}

TEST_F(PagerTest, DoesNotBeginWithoutOutput) {
  EXPECT_THAT(printed(marking, "models skylak"),
              AllOf(HasSubstr("did you mean skylake"), Not(HasSubstr("paged:")), HasSubstr("left with 2")));
}

TEST_F(PagerTest, CtrlCIsThePagersAndQEndsBoth) {
  if (!installed("less")) GTEST_SKIP() << "less is not installed";
  const Terminal terminal = started("PAGER=less", "msr --model skylake");
  EXPECT_THAT(terminal.screen_with("\n:"), AllOf(HasSubstr("ADDRESS"), Not(HasSubstr("left with"))));
  terminal.keys({"C-c"});
  EXPECT_THAT(terminal.screen_after("G", "(END)"), AllOf(HasSubstr("(END)"), Not(HasSubstr("left with"))));
  terminal.keys({"q"});
  EXPECT_THAT(terminal.screen_with("left with"), HasSubstr("left with"));
}

}  // namespace
}  // namespace pmusim::test::pager_test

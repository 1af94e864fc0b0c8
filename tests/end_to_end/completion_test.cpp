// SPDX-License-Identifier: MIT
// What shells offer behind "pmusim", and that both of them ask as their users type.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

/// What the last of the words can become.
Words offered(const Words& words) {
  Words arguments = {pmusim(), "help", "--complete", "--"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Output output = run(arguments);
  EXPECT_EQ(output.status, 0) << output.err;
  return lines(output.out);
}

TEST(Completion, KnowsCommands) {
  EXPECT_THAT(offered({""}), IsSupersetOf({"trace", "record", "stat", "help"}));
  EXPECT_THAT(offered({"st"}), ElementsAre("stat"));
  EXPECT_THAT(offered({"trace", "r"}), ElementsAre("record"));
}

TEST(Completion, KnowsTheOptionsOfTheCommandThatIsNamed) {
  EXPECT_THAT(offered({"trace", "record", "--start"}), ElementsAre("--start-symbol"));
  EXPECT_THAT(offered({"stat", "-"}), IsSupersetOf({"-e", "--event", "--model"}));
  EXPECT_THAT(offered({"help", "--c"}), IsEmpty()) << "an option for shells alone";
}

TEST(Completion, KnowsWhatOptionsTake) {
  EXPECT_THAT(offered({"stat", "--model", "skyl"}), Contains("skylake"));
  EXPECT_THAT(offered({"stat", "--model=skyl"}), Contains("--model=skylake"));
  EXPECT_THAT(offered({"trace", "record", "--regs", ""}), ElementsAre("none", "gpr", "simd"));
  EXPECT_THAT(offered({"stat", "--policy", "acr_t"}), ElementsAre("acr_tie="));
  EXPECT_THAT(offered({"record", "--kernel", "6.1"}), Contains("6.12"));
  EXPECT_THAT(offered({"models", "--json", "yon"}), ElementsAre("yonah"));
}

TEST(Completion, KnowsTheEventsOfTheModel) {
  EXPECT_THAT(offered({"stat", "-e", "branch-m"}), ElementsAre("branch-misses"));
  EXPECT_THAT(offered({"stat", "-e", "cycles,branch-m"}), ElementsAre("cycles,branch-misses"));
  EXPECT_THAT(offered({"stat", "-e", "{cycles,branch-m"}), ElementsAre("{cycles,branch-misses"));
  EXPECT_THAT(offered({"stat", "-e", "br_misp_retired."}), Contains("br_misp_retired.all_branches"));
  EXPECT_THAT(offered({"stat", "-e", "BR_MISP_RETIRED."}), Contains("BR_MISP_RETIRED.ALL_BRANCHES"));
  EXPECT_THAT(offered({"stat", "--model", "core2", "-e", "br_misp_retired."}), IsEmpty());
}

TEST(Completion, LeavesFilesAndProgramsToTheShell) {
  EXPECT_THAT(offered({"stat", ""}), IsEmpty());
  EXPECT_THAT(offered({"stat", "--", "st"}), IsEmpty());
}

/// What bash would put in place of the last word that it sees in the line.
Words bash_offers(const std::string& line, const std::string& words) {
  const std::string path = std::string(pmusim()).substr(0, std::string(pmusim()).rfind('/'));
  return lines(
      run({"bash", "-c",
           fmt::format("PATH={}:$PATH; . {}/tools/completion/pmusim.bash; COMP_LINE='{}'; COMP_POINT={}; "
                       "COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _pmusim; "
                       "printf '%s\\n' \"${{COMPREPLY[@]}}\"",
                       path, PMUSIM_SOURCE_DIR, line, line.size(), words)})
          .out);
}

TEST(CompletionInBash, OffersWhatTheCommandDoes) {
  EXPECT_THAT(bash_offers("pmusim st", "pmusim st"), ElementsAre("stat"));
  EXPECT_THAT(
      bash_offers("pmusim stat --model skylake -e branch-m", "pmusim stat --model skylake -e branch-m"),
      ElementsAre("branch-misses"));
  EXPECT_THAT(bash_offers("pmusim trace record --regs ", "pmusim trace record --regs ''"),
              ElementsAre("none", "gpr", "simd"));
}

TEST(CompletionInBash, KnowsThatEqualsSignsDivideWordsThere) {
  const Words models = bash_offers("pmusim stat --model=", "pmusim stat --model =");
  EXPECT_THAT(models, Contains("skylake"));
  EXPECT_THAT(models, Each(Not(StartsWith("-"))));
  EXPECT_THAT(bash_offers("pmusim stat --policy=acr_t", "pmusim stat --policy = acr_t"),
              ElementsAre("acr_tie="));
}

TEST(CompletionInZsh, OffersWhatTheCommandDoes) {
  if (!installed("zsh")) GTEST_SKIP() << "no zsh";
  const auto zsh_offers = [](const std::string& words) {
    return lines(
        run({"zsh", "-fc",
             fmt::format(
                 "compadd() {{ shift; print -l -- \"$@\" }}; _files() {{ print files }}; words=({} {}); "
                 "CURRENT=$#words; . {}/tools/completion/_pmusim",
                 pmusim(), words, PMUSIM_SOURCE_DIR)})
            .out);
  };
  EXPECT_THAT(zsh_offers("st"), ElementsAre("stat"));
  EXPECT_THAT(zsh_offers("stat --model=skyl"), Contains("--model=skylake"));
  EXPECT_THAT(zsh_offers("stat ''"), ElementsAre("files"));
}

}  // namespace
}  // namespace pmusim::test

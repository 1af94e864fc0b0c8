// SPDX-License-Identifier: MIT
// Traces of what a run has stepped.
#include <filesystem>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char* events = "instructions:u,cycles:u,branches:u,branch-misses:u";

class LiveTrace : public LiveWithPerf {
 protected:
  std::map<std::string, std::string> counted(const std::vector<std::string>& program,
                                             const std::string& core = "interval") const {
    std::vector<std::string> command{"perf", "stat", "-x,", "-o", file("counts"), "-e", events, "--"};
    command.insert(command.end(), program.begin(), program.end());
    const Output output = run_live(command, {"--core", core, "--record", file("trace")});
    EXPECT_EQ(output.status, 0) << output.err;
    return counts_in(read_file(file("counts")));
  }
  std::map<std::string, std::string> replayed(const std::string& core = "interval") const {
    const Output output =
        run({pmusim(), "stat", "--core", core, "-x,", "-o", file("replayed"), "-e", events, file("trace")});
    EXPECT_EQ(output.status, 0) << output.err;
    return counts_in(read_file(file("replayed")));
  }
};

TEST_F(LiveTrace, ReplaysToTheSameCounts) {
  const auto live = counted({bare_program});
  EXPECT_EQ(live.size(), 4u);
  EXPECT_EQ(replayed(), live);
}

TEST_F(LiveTrace, OfASimplerCoreReplaysToTheSameCounts) {
  const auto simple = counted({bare_program}, "simple");
  EXPECT_EQ(replayed("simple"), simple);
  const auto whole = replayed();
  EXPECT_EQ(simple.at("instructions:u"), whole.at("instructions:u"));
  EXPECT_NE(simple.at("cycles:u"), whole.at("cycles:u"));
}

TEST_F(LiveTrace, OfThreadsAndChildrenReplaysToTheSameCounts) {
  const auto live = counted({events_program, "others", "3000"});
  EXPECT_EQ(live.size(), 4u);
  EXPECT_EQ(replayed(), live);
  EXPECT_THAT(run({pmusim(), "trace", "info", file("trace")}).out, ContainsRegex("threads +3\n"));
}

TEST_F(LiveTrace, HasProgramsThatWereStartedOneAfterTheOther) {
  const std::string stat = "perf stat -x, -e instructions:u -o ";
  const Output output = run_live({"sh", "-c", stat + "$0.1 $1; " + stat + "$0.2 $2 work 1000", file("counts"),
                                  bare_program, events_program},
                                 {"--record", file("trace")});
  ASSERT_EQ(output.status, 0) << output.err;
  const auto first = counts_in(read_file(file("counts.1"))), second = counts_in(read_file(file("counts.2")));
  EXPECT_EQ(std::stoll(replayed().at("instructions:u")),
            std::stoll(first.at("instructions:u")) + std::stoll(second.at("instructions:u")));
  EXPECT_THAT(run({pmusim(), "trace", "info", file("trace")}).out, ContainsRegex("processes +2\n"));
}

TEST_F(LiveTrace, SamplesOfItsReplayHaveTheSymbolsOfTheProgram) {
  counted({bare_program});
  ASSERT_EQ(run({pmusim(), "record", "-e", "instructions:u", "-c", "500", "-o", file("data"), file("trace")})
                .status,
            0);
  EXPECT_THAT(run_perf({"script", "-F", "ip,sym,comm"}, file("data")).out, ContainsRegex("bare.*leaf"));
}

TEST_F(Live, ATraceOfARunThatStepsNothingIsNone) {
  const Output output = run_live({"true"}, {"--record", file("trace")});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("trace: nothing was recorded: no event has counted a task"));
  EXPECT_FALSE(std::filesystem::exists(file("trace")));
}

TEST_F(Live, ATraceThatCannotBeMadeEndsARunBeforeItBegins) {
  const Output output = run_live({"echo", "begun"}, {"--record", "/no/such/folder/trace"});
  EXPECT_EQ(output.status, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, HasSubstr("/no/such/folder/trace"));
}

}  // namespace
}  // namespace pmusim::test

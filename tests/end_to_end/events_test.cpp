// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

TEST(EventsCommand, ListsTheEventsThatFitAPattern) {
  const Output listed = run({pmusim(), "events", "--model", "skylake", "br_misp_retired.*"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_THAT(listed.out, HasSubstr("BR_MISP_RETIRED.ALL_BRANCHES"));
  EXPECT_THAT(listed.out, HasSubstr("cpu/event=0xc5,umask=0x00/"));
  EXPECT_THAT(listed.out, testing::Not(HasSubstr("MEM_LOAD_RETIRED")));
}

TEST(EventsCommand, SaysWhatPerfsNamesCount) {
  const Output listed = run({pmusim(), "events", "branch-misses"});
  EXPECT_THAT(listed.out, HasSubstr("counts BR_MISP_RETIRED.ALL_BRANCHES"));
}

TEST(EventsCommand, RefusesANameThatNoEventHasAndNamesNearOnes) {
  const Output refused = run({pmusim(), "events", "BR_MISP_RETIRED.ALL_BRANCH"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("no event of Ice Lake is named 'BR_MISP_RETIRED.ALL_BRANCH'; did you mean "));
  EXPECT_THAT(refused.err, HasSubstr("BR_MISP_RETIRED.ALL_BRANCHES"));
}

TEST(EventsCommand, DistinguishesUnmodelledFromUnknownEvents) {
  const Output refused = run({pmusim(), "events", "L2_LINES_OUT.SILENT"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("exists on Ice Lake, but caches do not tell"));
  EXPECT_THAT(run({pmusim(), "events", "--all", "L2_LINES_OUT.SILENT"}).out, HasSubstr("not modelled"));
}

TEST(EventsCommand, ListsWithTheReasonWhatAReplayCannotCount) {
  const Output listed = run({pmusim(), "events", "--model", "silvermont", "MACHINE_CLEARS.MEMORY_ORDERING"});
  EXPECT_THAT(listed.out, HasSubstr("not countable"));
  EXPECT_THAT(listed.out, HasSubstr("loads of this core pass no store that"));
  EXPECT_THAT(
      run({pmusim(), "events", "--json", "--model", "silvermont", "MACHINE_CLEARS.MEMORY_ORDERING"}).out,
      HasSubstr("\"countable\": false"));
}

TEST(CountedEvents, AreRefusedWhereTheyCannotOccur) {
  const std::string trace = recorded("mispredict", {"4096", "2"});
  const Output clears =
      run({pmusim(), "stat", "--model", "silvermont", "-e", "MACHINE_CLEARS.MEMORY_ORDERING", trace});
  EXPECT_EQ(clears.status, 2);
  EXPECT_THAT(clears.err, HasSubstr("loads of this core pass no store"));
  const Output records = run({pmusim(), "stat", "-e", "MISC_RETIRED.LBR_INSERTS", trace});
  EXPECT_EQ(records.status, 2);
  EXPECT_THAT(records.err, HasSubstr("nothing uses the LBR"));
}

TEST(CountedEvents, IncludeLbrInsertsWhereBranchesAreSampled) {
  const ScratchDirectory scratch;
  const Output recording =
      run({pmusim(), "record", "-j", "any,u", "-e", "MISC_RETIRED.LBR_INSERTS", "-c", "101", "-o",
           scratch.file("perf.data"), recorded("mispredict", {"4096", "2"})});
  EXPECT_EQ(recording.status, 0) << recording.err;
  EXPECT_THAT(recording.err, testing::Not(HasSubstr("(0 samples)")));
}

TEST(EventsCommand, WritesAJsonArray) {
  const Output listed = run({pmusim(), "events", "--json", "MACHINE_CLEARS.COUNT"});
  EXPECT_EQ(listed.status, 0);
  EXPECT_EQ(listed.out.front(), '[');
  EXPECT_THAT(listed.out, HasSubstr("\"name\": \"MACHINE_CLEARS.COUNT\""));
  EXPECT_THAT(listed.out, HasSubstr("\"edge\": true"));
}

}  // namespace
}  // namespace pmusim::test

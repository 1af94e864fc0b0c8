// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "command.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ListCommand, GroupsPerfsNamesAsPerfDoes) {
  const Output all = run({pmusim(), "list", "--model", "skylake"});
  EXPECT_EQ(all.status, 0);
  EXPECT_THAT(all.out,
              HasSubstr("\n  branch-instructions OR branches                    [Hardware event]\n"));
  EXPECT_THAT(all.out,
              HasSubstr("\n  context-switches OR cs                             [Software event]\n"));
  EXPECT_THAT(all.out,
              HasSubstr("\n  mem-loads OR cpu/mem-loads/                        [Kernel PMU event]\n"));
  EXPECT_THAT(all.out, HasSubstr("\nSkylake:\n"));
  EXPECT_THAT(all.out, HasSubstr("\n  BR_MISP_RETIRED.ALL_BRANCHES\n"));
}

// perf prints "NAME [KIND]" or "A OR B [KIND]" in exactly this form, software events on every machine.
TEST(ListCommand, PrintsSoftwareEventsLineByLineAsPerfDoes) {
  const Output ours = run({pmusim(), "list", "sw"}), perfs = run({"perf", "list", "sw"});
  if (perfs.status != 0) GTEST_SKIP() << "perf is not installed (package linux-perf)";
  for (const std::string& line : lines(ours.out)) {
    if (!line.starts_with("  ")) continue;
    EXPECT_THAT(lines(perfs.out), testing::Contains(line));
  }
  EXPECT_THAT(ours.out, HasSubstr("task-clock"));
}

TEST(ListCommand, TakesKindsPatternsAndPartsOfNames) {
  EXPECT_THAT(run({pmusim(), "list", "hw"}).out, Not(HasSubstr("L1-dcache-loads")));
  EXPECT_THAT(run({pmusim(), "list", "cache"}).out, HasSubstr("L1-dcache-loads"));
  const std::string misses = run({pmusim(), "list", "br_misp*"}).out;
  EXPECT_THAT(misses, HasSubstr("BR_MISP_RETIRED.ALL_BRANCHES"));
  EXPECT_THAT(misses, Not(HasSubstr("BR_INST_RETIRED")));
  EXPECT_THAT(run({pmusim(), "list", "switches"}).out, HasSubstr("context-switches"));
  const Output none = run({pmusim(), "list", "nosuch"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("no event of Ice Lake fits 'nosuch'"));
}

TEST(ListCommand, NamesWhatStatTakes) {
  std::string names;
  for (const std::string& line : lines(run({pmusim(), "list", "hw", "cache", "sw"}).out))
    if (line.find("e event]") != std::string::npos) names += "," + line.substr(2, line.find(' ', 2) - 2);
  ASSERT_THAT(names, HasSubstr("L1-dcache-loads"));
  const Output counted = run({pmusim(), "stat", "-e", names.substr(1), recorded("branches", {"27"})});
  EXPECT_EQ(counted.status, 0) << counted.err;
}

}  // namespace
}  // namespace pmusim::test

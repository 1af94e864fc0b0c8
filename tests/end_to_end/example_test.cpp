// SPDX-License-Identifier: MIT
// The programs of examples/.
#include <gmock/gmock.h>

#include "command.h"

namespace pmusim::test {
namespace {

TEST(Examples, ReplayPrintsWhereBranchesWereMispredicted) {
  const Output output = run({PMUSIM_EXAMPLES "/replay", recorded("branches", {"2000"})});
  ASSERT_EQ(output.status, 0) << output.err;
  const std::vector<std::string> printed = lines(output.out);
  EXPECT_GE(printed.size(), 2u) << "2000 rounds with two coin flips each mispredict some 2000 branches";
  EXPECT_THAT(printed, testing::Each(testing::ContainsRegex(
                           "^branch-misses:upp at 0x[0-9a-f]+: from 0x[0-9a-f]+, [0-9]+ cycles after")));
}

TEST(Examples, ReplayOfAMissingTraceSaysSo) {
  const Output output = run({PMUSIM_EXAMPLES "/replay", "no-such-trace"});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, testing::HasSubstr("no-such-trace"));
}

}  // namespace
}  // namespace pmusim::test

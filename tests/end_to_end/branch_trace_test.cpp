// SPDX-License-Identifier: MIT
// Period 1 of the branch event: every taken branch of a program is a sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "branch_profile.h"
#include "command.h"
#include "perf_data_file.h"

namespace pmusim::test {
namespace {

struct Jump {
  u64 from = 0, to = 0;
  friend bool operator==(const Jump&, const Jump&) = default;
};

std::vector<Jump> taken_branches(const std::string& trace, const std::string& model) {
  std::vector<Jump> taken;
  for (const ExecutedBranch& branch : executed_branches(trace, model))
    if (branch.taken) taken.push_back({branch.ip, branch.next_ip});
  return taken;
}

/// IP and ADDR of every sample of a file with IP, TID, TIME and ADDR.
std::vector<Jump> jumps(const std::string& path) {
  const PerfDataFile file(path);
  std::vector<Jump> found;
  file.for_each_sample([&](std::size_t record, const perf::Attr& attr) {
    using namespace perf::sample;
    EXPECT_EQ(attr.sample_type & (IDENTIFIER | IP | TID | TIME | ADDR), IP | TID | TIME | ADDR);
    found.push_back({file.get<u64>(record + 8), file.get<u64>(record + 32)});
  });
  return found;
}

class BranchTrace : public testing::TestWithParam<const char*> {};

TEST_P(BranchTrace, EveryTakenBranchIsASample) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("branches", {"400"}), out = scratch.file("perf.data");
  const Output output =
      run({pmusim(), "record", "--model", GetParam(), "-e", "branches:u", "-c", "1", "-d", "-o", out, trace});
  ASSERT_EQ(output.status, 0) << output.err;
  const std::vector<Jump> expected = taken_branches(trace, GetParam());
  ASSERT_GT(expected.size(), 10'000u);
  EXPECT_TRUE(jumps(out) == expected);
}

INSTANTIATE_TEST_SUITE_P(Models, BranchTrace, testing::Values("skylake", "icelake", "cougarcove"));

TEST(BranchTraceScript, PerfPrintsFromAndTo) {
  ASSERT_TRUE(installed("perf")) << "scripts/packages.sh test installs it";
  const ScratchDirectory scratch;
  const std::string out = scratch.file("perf.data");
  const Output output = run(
      {pmusim(), "record", "-e", "branches:u", "-c", "1", "-d", "-o", out, recorded("branches", {"400"})});
  ASSERT_EQ(output.status, 0) << output.err;
  const Output script = run({"perf", "script", "-F", "ip,sym,addr", "-i", out});
  EXPECT_EQ(script.status, 0);
  EXPECT_EQ(script.err, "");
  EXPECT_THAT(script.out, testing::HasSubstr(" lfsr"));
}

}  // namespace
}  // namespace pmusim::test

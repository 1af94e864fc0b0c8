// SPDX-License-Identifier: MIT
// Samples of a group whose counters are stored in PEBS records: their counts are those of the sampled
// instruction (docs/pebs.md), however long the records have waited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command.h"
#include "core/core.h"
#include "group_samples.h"
#include "pmusim/trace/trace.h"

namespace pmusim::test {
namespace {

struct CountsAtInstruction {
  u64 ip = 0;
  u64 branches = 0, cycles = 0;  ///< this instruction included
};

/// What had been counted at every instruction of a trace.
std::vector<CountsAtInstruction> counts_at_instructions(const std::string& trace_path,
                                                        const std::string& model) {
  trace::Reader reader = std::move(trace::Reader::open(trace_path)).value();
  Core core = std::move(Core::create(*find_cpu_model(model))).value();
  std::vector<CountsAtInstruction> counts;
  u64 branches = 0;
  while (true) {
    const Result<trace::NextItem, Error> item = reader.next();
    if (!item.ok()) throw std::runtime_error(item.error().message);
    if (!item->has_value()) return counts;
    const auto* const run = std::get_if<trace::BlockRun>(&**item);
    if (run == nullptr) continue;
    core.run(*run, [&](const Retirement& r) {
      branches += r.signals.has(Signal::branch);
      if (r.signals.has(Signal::instruction)) counts.push_back({r.ip, branches, r.cycle});
    });
  }
}

class GroupRead : public testing::TestWithParam<const char*> {
 protected:
  std::string trace_ = recorded("branches", {"2000"});
  ScratchDirectory scratch_;

  std::vector<GroupSample> samples(const std::string& events, const std::string& period) {
    const std::string out = scratch_.file("perf.data");
    const Output output =
        run({pmusim(), "record", "--model", GetParam(), "-e", events, "-c", period, "-o", out, trace_});
    EXPECT_EQ(output.status, 0) << output.err;
    return group_samples(out);
  }
};

TEST_P(GroupRead, EverySampleHasTheExactCountsOfItsOwnInstruction) {
  const std::vector<CountsAtInstruction> exact = counts_at_instructions(trace_, GetParam());
  const std::vector<GroupSample> all = samples("{branches:upp,instructions:u,cycles:u}:S", "97");
  ASSERT_GT(all.size(), 100u);
  for (const GroupSample& sample : all) {
    ASSERT_EQ(sample.values.size(), 3u);
    const u64 branches = sample.values[0], instructions = sample.values[1];
    ASSERT_TRUE(instructions > 0 && instructions <= exact.size());
    EXPECT_EQ(sample.ip, exact[instructions - 1].ip);
    EXPECT_EQ(branches, exact[instructions - 1].branches);
    EXPECT_EQ(sample.values[2], exact[instructions - 1].cycles);
  }
}

TEST_P(GroupRead, PerfDistinguishesMembers) {
  ASSERT_TRUE(installed("perf")) << "scripts/packages.sh test installs it";
  samples("{branches:upp,instructions:u}:S", "97");
  const Output script = run({"perf", "script", "-F", "event,period", "-i", scratch_.file("perf.data")});
  EXPECT_EQ(script.status, 0);
  EXPECT_EQ(script.err, "");
  EXPECT_THAT(script.out, testing::HasSubstr("branches:upp"));
  EXPECT_THAT(script.out, testing::HasSubstr("instructions:u"));
}

INSTANTIATE_TEST_SUITE_P(Models, GroupRead, testing::Values("lioncove", "skymont", "cougarcove", "darkmont"));

}  // namespace
}  // namespace pmusim::test

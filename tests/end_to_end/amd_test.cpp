// SPDX-License-Identifier: MIT
// AMD's models in `stat`, `record`, `list` and `events`, and their files in the perf that is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "branch_profile.h"
#include "command.h"
#include "pmusim/trace/trace.h"

namespace pmusim::test::amd_files {
namespace {

using testing::HasSubstr;

class AmdModels : public testing::Test {
 protected:
  std::string trace_ = recorded("branches", {"400"});
  ScratchDirectory scratch_;

  Output pmusim_with(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), pmusim());
    return run(arguments);
  }
  Output stat(std::vector<std::string> options) const {
    options.insert(options.begin(), {"stat", "-x,"});
    options.push_back(trace_);
    return pmusim_with(options);
  }
  /// By a pass over the trace that knows nothing of counters.
  u64 branches(bool (*counted)(const ExecutedBranch&)) const {
    const std::vector<ExecutedBranch> all = executed_branches(trace_, "skylake");
    return static_cast<u64>(std::ranges::count_if(all, counted));
  }
};

TEST_F(AmdModels, CountWhatTheTraceHolds) {
  const u64 instructions = std::move(trace::Reader::open(trace_)).value().instruction_count();
  const u64 all = branches([](const ExecutedBranch&) { return true; });
  // Far transfers are among those that are taken; of a system call the trace has no more than that it was.
  const u64 taken = branches([](const ExecutedBranch& b) { return b.taken || !is_near_branch(b.kind); });
  const u64 conditional = branches([](const ExecutedBranch& b) { return b.kind == BranchKind::conditional; });
  const u64 returns = branches([](const ExecutedBranch& b) { return b.kind == BranchKind::near_return; });
  for (const char* const model : {"naples", "rome", "milan", "genoa", "turin"}) {
    const Output counts = stat({"--model", model, "--core", "flat", "-e",
                                "instructions,branches,ex_ret_brn_tkn,EX_RET_COND,r00c8,cpu/event=0xd1/,"
                                "cycles"});
    ASSERT_EQ(counts.status, 0) << counts.err;
    for (const std::string& line :
         {std::to_string(instructions) + ",,instructions", std::to_string(all) + ",,branches",
          std::to_string(taken) + ",,ex_ret_brn_tkn", std::to_string(conditional) + ",,EX_RET_COND",
          std::to_string(returns) + ",,r00c8", std::to_string(conditional) + ",,cpu/event=0xd1/",
          std::to_string(instructions) + ",,cycles"})
      EXPECT_THAT(counts.err, HasSubstr(line)) << model;
  }
}

TEST_F(AmdModels, EventNumbersHaveTwelveBits) {
  const u64 unconditional =
      branches([](const ExecutedBranch& b) { return b.kind != BranchKind::conditional; });
  const Output counts = stat(
      {"--model", "genoa", "--core", "flat", "-e", "cpu/event=0x1c9/,r1000000c9,ex_ret_uncond_brnch_instr"});
  ASSERT_EQ(counts.status, 0) << counts.err;
  for (const char* const name : {"cpu/event=0x1c9/", "r1000000c9", "ex_ret_uncond_brnch_instr"})
    EXPECT_THAT(counts.err, HasSubstr(std::to_string(unconditional) + ",," + name));
}

TEST_F(AmdModels, SayWhatTheyCannotCount) {
  const Output mispredicts = stat({"--model", "genoa", "--core", "flat", "-e", "ex_ret_brn_misp"});
  EXPECT_NE(mispredicts.status, 0);
  EXPECT_THAT(mispredicts.err, HasSubstr("more than core 'flat' knows: core 'simple' counts it"));
  for (const char* const event : {"L1-icache-loads", "cpu/event=0x003,umask=0xff/"}) {
    const Output unknown = stat({"--model", "genoa", "-e", event});
    EXPECT_NE(unknown.status, 0) << event;
  }
  const Output addresses = pmusim_with({"record", "-q", "-d", "--model", "genoa", "-e", "cycles", "-o",
                                        scratch_.file("refused.data"), trace_});
  EXPECT_EQ(addresses.status, 2);
  EXPECT_THAT(addresses.err, HasSubstr("counters of Zen 4 (Genoa) tell nothing of them"));
}

u64 count_of(const Output& counts, const std::string& event) {
  const std::size_t name = counts.err.find(",," + event);
  if (name == std::string::npos) return 0;
  const std::size_t line = counts.err.rfind('\n', name);
  return std::stoull(counts.err.substr(line == std::string::npos ? 0 : line + 1));
}

TEST_F(AmdModels, HaveTimeAndMispredictsOfTheirOwn) {
  const u64 instructions = std::move(trace::Reader::open(trace_)).value().instruction_count();
  for (const char* const model : {"naples", "rome", "milan", "genoa", "turin"}) {
    const Output counts =
        stat({"--model", model, "-e", "cycles,instructions,branches,branch-misses,cpu/event=0xc1/"});
    ASSERT_EQ(counts.status, 0) << counts.err;
    EXPECT_EQ(count_of(counts, "instructions"), instructions);
    EXPECT_GT(count_of(counts, "cycles"), instructions / 8) << model;
    EXPECT_NE(count_of(counts, "cycles"), instructions) << model;
    EXPECT_GT(count_of(counts, "branch-misses"), 0u) << model;
    EXPECT_LT(count_of(counts, "branch-misses"), count_of(counts, "branches") / 4) << model;
    EXPECT_GT(count_of(counts, "cpu/event=0xc1/"), instructions / 2) << "ops: " << model;
  }
}

// Dispatch slots of Zen 4, as perf's top-down metrics of it divide them (6 in a cycle).
TEST_F(AmdModels, SlotsOfZen4AddUp) {
  const Output counts = stat({"--model", "genoa", "-e",
                              "cycles,de_no_dispatch_per_slot.no_ops_from_frontend,de_no_dispatch_per_slot."
                              "backend_stalls,ex_ret_ops"});
  ASSERT_EQ(counts.status, 0) << counts.err;
  const u64 used = count_of(counts, "de_no_dispatch_per_slot.no_ops_from_frontend") +
                   count_of(counts, "de_no_dispatch_per_slot.backend_stalls") +
                   count_of(counts, "ex_ret_ops");
  EXPECT_LE(used, 6 * count_of(counts, "cycles"));
  EXPECT_GT(used, 3 * count_of(counts, "cycles")) << "the rest is bad speculation";
}

TEST_F(AmdModels, StacksHoldTheBranchesBeforeEachSample) {
  const std::string file = scratch_.file("perf.data");
  const Output recorded = pmusim_with({"record", "-q", "--model", "genoa", "--core", "flat", "-e",
                                       "branches:u", "-c", "997", "-b", "-o", file, trace_});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  std::vector<ExecutedBranch> taken;
  for (const ExecutedBranch& b : executed_branches(trace_, "skylake"))
    if (b.taken && b.cpl_after == Cpl::user) taken.push_back(b);
  const std::vector<BranchSample> samples = branch_samples(file);
  ASSERT_GT(samples.size(), 3u);
  for (const BranchSample& sample : samples) {
    ASSERT_EQ(sample.branches.size(), 16u);
    const auto matches = [&](std::size_t newest) {
      for (std::size_t i = 0; i < sample.branches.size(); ++i)
        if (taken[newest - i].ip != sample.branches[i].from ||
            taken[newest - i].next_ip != sample.branches[i].to)
          return false;
      return true;
    };
    bool found = false;
    for (std::size_t newest = 15; newest < taken.size() && !found; ++newest) found = matches(newest);
    EXPECT_TRUE(found) << std::hex << sample.ip;
  }
}

TEST_F(AmdModels, PerfReadsTheirFiles) {
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
  const std::string file = scratch_.file("perf.data");
  const Output recorded = pmusim_with(
      {"record", "-q", "--model", "genoa", "--core", "flat", "-e", "cycles", "-b", "-o", file, trace_});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const std::string header = perf_output({"report", "--header-only"}, file);
  EXPECT_THAT(header, HasSubstr("cpuid : AuthenticAMD,25,17,1"));
  EXPECT_THAT(header, HasSubstr("cpu pmu capabilities: branches=16, max_precise=0"));
  EXPECT_THAT(perf_output({"script", "-F", "+brstack"}, file), HasSubstr("/P/-/-/0"));
  EXPECT_THAT(perf_output({"report", "--stdio"}, file), HasSubstr("main"));
}

TEST_F(AmdModels, CountFloatingPointOperationsByPairs) {
  const std::string source = scratch_.file("fp.c"), program = scratch_.file("fp"),
                    trace = scratch_.file("fp.trace");
  std::ofstream(source)
      << "int main(void) { volatile float a = 1, b = 2; volatile double c = 3, d = 4;\n"
         "  for (int i = 0; i < 1000; i++) { a = a + b; c = c * d; if (i & 1) d = d / 3; }\n"
         "  return 0; }\n";
  ASSERT_EQ(run({"cc", "-O1", "-o", program, source}).status, 0);
  ASSERT_EQ(pmusim_with({"trace", "record", "-o", trace, program}).status, 0);
  const auto count = [&](const std::string& model, const std::string& event) {
    const Output counted =
        pmusim_with({"stat", "-x,", "--model", model, "-e", "fp_ret_sse_avx_ops." + event, trace});
    EXPECT_EQ(counted.status, 0) << counted.err;
    return counted.err.substr(0, counted.err.find(','));
  };
  for (const char* model : {"rome", "milan", "genoa", "turin"}) {
    EXPECT_EQ(count(model, "all"), "2500") << model;
    EXPECT_EQ(count(model, "add_sub_flops"), "1000") << model;
    EXPECT_EQ(count(model, "mult_flops"), "1000") << model;
    EXPECT_EQ(count(model, "div_flops"), "500") << model;
  }
  EXPECT_EQ(count("naples", "sp_add_sub_flops"), "1000");
  EXPECT_EQ(count("naples", "dp_div_flops"), "500");
  EXPECT_EQ(count("turin", "scalar_single_flops"), "1000");
  EXPECT_EQ(count("turin", "scalar_double_flops"), "1500");
}

TEST_F(AmdModels, AreListed) {
  const Output list = pmusim_with({"list", "--model", "genoa"});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("EX_RET_UNCOND_BRNCH_INSTR"));
  EXPECT_THAT(list.out, HasSubstr("branch-misses"));
  const Output events = pmusim_with({"events", "--model", "genoa", "ex_ret_uncond_brnch_instr"});
  EXPECT_EQ(events.status, 0) << events.err;
  EXPECT_THAT(events.out, HasSubstr("cpu/event=0x1c9,umask=0x00/"));
}

}  // namespace
}  // namespace pmusim::test::amd_files

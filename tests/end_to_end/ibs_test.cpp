// SPDX-License-Identifier: MIT
// Profiles of AMD's instruction-based sampling in the perf that is installed, against what the core did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <sstream>
#include <tuple>

#include "command.h"
#include "core/core.h"
#include "pmusim/trace/trace.h"

namespace pmusim::test::ibs_files {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Instruction, address, and the cycles that it took if it missed L1, else 0.
using SampledLoad = std::tuple<u64, u64, u64>;

/// Every load of a trace, as the model's core does it. IBS tells of the first access of an instruction.
std::set<SampledLoad> executed_loads(const std::string& trace_path, const std::string& model) {
  trace::Reader reader = std::move(trace::Reader::open(trace_path)).value();
  Core core = std::move(Core::create(*find_cpu_model(model))).value();
  std::set<SampledLoad> loads;
  while (const auto item = reader.next().value()) {
    const auto* const run = std::get_if<trace::BlockRun>(&*item);
    if (run == nullptr) continue;
    core.run(*run, [&](const Retirement& r) {
      if (r.memory.empty()) return;
      const MemoryAccess& access = r.memory.front();
      const bool missed = access.level != CacheLevel::l1;
      loads.insert({r.ip, access.address, missed ? access.latency_cycles : 0});
    });
  }
  return loads;
}

class IbsFiles : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
  }
  std::string record(const std::vector<std::string>& options) {
    const std::string file = scratch_.file("perf.data");
    std::vector<std::string> command{pmusim(), "record", "-q", "--model", GetParam(), "-o", file};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(trace_);
    const Output output = run(command);
    EXPECT_EQ(output.status, 0) << output.err;
    return file;
  }
  /// Of a perf that warns of nothing.
  static std::string perf(std::vector<std::string> arguments, const std::string& file) {
    const Output output = run_perf(std::move(arguments), file);
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.err, IsEmpty());
    return output.out;
  }

  std::string trace_ = recorded("mispredict", {"4096", "2"});
  ScratchDirectory scratch_;
};

TEST_P(IbsFiles, LoadsAreThoseOfTheCoreInPerfScript) {
  const std::string file = record({"-e", "ibs_op/cnt_ctl/", "-c", "272", "-d", "-W", "-R"});
  const std::set<SampledLoad> executed = executed_loads(trace_, GetParam());
  unsigned loads = 0, misses = 0;
  for (const std::string& line : lines(perf({"script", "-F", "ip,addr,data_src,weight"}, file))) {
    std::string words = line;
    if (words.find("|OP LOAD|") == words.npos) continue;
    const bool is_l1 = words.find("|LVL L1 or L1 hit|") != words.npos;
    words.replace(words.find("|OP"), words.rfind('|') - words.find("|OP") + 1, "");
    std::istringstream in(words);
    u64 address = 0, source = 0, latency = 0, ip = 0;
    std::string blocked, of_block;
    in >> std::hex >> address >> source >> blocked >> of_block >> std::dec >> latency >> std::hex >> ip;
    ASSERT_TRUE(in) << line;
    ++loads;
    misses += is_l1 ? 0 : 1;
    EXPECT_EQ(is_l1, latency == 0) << line;
    EXPECT_TRUE(executed.contains({ip, address, latency})) << line;
  }
  EXPECT_GT(loads, 100u);
  EXPECT_GT(misses, 0u);
}

TEST_P(IbsFiles, RegistersAreDecodedByPerf) {
  for (const auto& [event, name] :
       {std::pair("ibs_op/cnt_ctl/", "ibs_op_ctl:"), std::pair("ibs_op//", "ibs_op_ctl:"),
        std::pair("ibs_fetch/rand_en/", "ibs_fetch_ctl:")}) {
    const std::string file = record({"-e", event, "-c", "4000", "-R"});
    const std::string dump = perf({"report", "-D"}, file);
    unsigned decoded = 0, samples = 0;
    for (const std::string& line : lines(dump)) {
      decoded += line.starts_with(name);
      samples += line.find("PERF_RECORD_SAMPLE") != line.npos;
    }
    EXPECT_GT(samples, 5u) << event;
    EXPECT_EQ(decoded, samples) << event;
    EXPECT_THAT(dump, Not(HasSubstr("Invalid IBS"))) << event;
  }
}

TEST_P(IbsFiles, AreMemoryProfilesForPerf) {
  const std::string file = record({"-e", "ibs_op//", "-c", "1008", "-d", "-W"});
  EXPECT_THAT(perf({"mem", "report", "--stdio"}, file), HasSubstr("L1 or L1 hit"));
  EXPECT_THAT(perf({"report", "--stdio"}, file), HasSubstr("sum_ge64"));
  EXPECT_THAT(perf({"report", "--header-only"}, file),
              HasSubstr("pmu mappings: software = 1, cpu = 4, ibs_fetch = 1000, ibs_op = 1001"));
}

TEST_P(IbsFiles, PreciseCyclesAreThoseOfIbs) {
  const std::string file = record({"-e", "cycles:pp", "-c", "4000"});
  const std::string samples = perf({"report", "-D"}, file);
  EXPECT_THAT(samples, HasSubstr("PERF_RECORD_SAMPLE(IP, 0x4002)")) << "EXACT_IP, in user code";
  EXPECT_THAT(samples, Not(HasSubstr("PERF_RECORD_SAMPLE(IP, 0x2)")));
}

INSTANTIATE_TEST_SUITE_P(Each, IbsFiles, testing::Values("rome", "milan", "genoa", "turin"),
                         [](const auto& model) { return std::string(model.param); });

TEST(IbsRefusals, SayWhatIsWrong) {
  const std::string trace = recorded("branches", {"100"});
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  const auto refusal = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {pmusim(), "record", "-q", "-o", file});
    options.push_back(trace);
    const Output output = run(options);
    EXPECT_EQ(output.status, 2);
    return output.err;
  };
  EXPECT_THAT(refusal({"--model", "naples", "-e", "ibs_op//", "-c", "4000"}),
              HasSubstr("has no PMU 'ibs_op'"));
  EXPECT_THAT(refusal({"--model", "genoa", "-e", "ibs_op//", "-c", "16"}), HasSubstr("below 144"));
  EXPECT_THAT(refusal({"--model", "genoa", "-e", "ibs_op//", "-c", "4000", "-b"}),
              HasSubstr("no branch stack"));
  EXPECT_THAT(refusal({"--model", "genoa", "--core", "flat", "-e", "ibs_op//", "-c", "4000"}),
              HasSubstr("core 'interval' does"));
  EXPECT_THAT(refusal({"--model", "genoa", "-e", "cycles", "-c", "4000", "-R"}),
              HasSubstr("only instruction-based sampling has raw data"));
  EXPECT_THAT(refusal({"--model", "genoa", "-e", "instructions:pp", "-c", "4000"}),
              HasSubstr("IBS stands in for cycles and dispatched ops"));
}

}  // namespace
}  // namespace pmusim::test::ibs_files

// SPDX-License-Identifier: MIT
// Traces as Intel PT: other decoders find what was recorded.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "pmusim/base/bits.h"
#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

u64 number(const std::string& hex) { return std::stoull(hex, nullptr, 16); }

/// Addresses of all instructions of a trace, in order.
std::vector<u64> instructions_of(const std::string& trace) {
  std::vector<u64> result;
  for (const std::string& line : lines(run({pmusim(), "trace", "dump", "--json", trace}).out)) {
    const auto item = nlohmann::json::parse(line);
    if (item.contains("ip")) result.push_back(number(item["ip"]));
  }
  return result;
}

/// A branch as perf prints it: "FROM/TO".
using Stack = std::vector<std::string>;
struct StackSample {
  u64 ip = 0;
  Stack branches;  // newest first
};

std::vector<StackSample> stacks_in(const std::string& file) {
  std::vector<StackSample> result;
  for (const std::string& line : lines(perf_output({"script", "-F", "ip,brstack"}, file))) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) continue;
    StackSample sample{number(word), {}};
    while (words >> word) sample.branches.push_back(word.substr(0, word.find('/', word.find('/') + 1)));
    result.push_back(std::move(sample));
  }
  return result;
}

class ProcessorTrace : public testing::Test {
 protected:
  std::string exported(const std::string& trace) {
    const std::string file = scratch_.file("pt.data");
    EXPECT_EQ(run({pmusim(), "trace", "export", "-f", "pt", "-o", file, trace}).status, 0);
    return file;
  }
  /// Branch stacks that perf makes of a PT file, as each instruction that is a multiple of 1000 retires.
  std::vector<StackSample> perfs_stacks(const std::string& file) {
    const std::string samples = scratch_.file("injected.data");
    EXPECT_EQ(run_perf({"inject", "--itrace=i1000il32", "--strip", "-o", samples}, file).status, 0);
    return stacks_in(samples);
  }
  /// The LBR's contents when the same instructions have retired.
  std::vector<StackSample> emulated_stacks(const std::string& trace) {
    const std::string samples = scratch_.file("samples.data");
    EXPECT_EQ(run({pmusim(), "record", "-e", "inst_retired.prec_dist:uppp", "-c", "1000", "-b", "-o", samples,
                   trace})
                  .status,
              0);
    return stacks_in(samples);
  }

  ScratchDirectory scratch_;
};

TEST_F(ProcessorTrace, IsDecodedByPerfToEveryInstructionOfTheTrace) {
  const std::string trace = recorded("branches", {"400"});
  std::vector<u64> decoded;
  for (const std::string& line : lines(perf_output({"script", "--itrace=i0ns", "-F", "ip"}, exported(trace))))
    if (!line.empty()) decoded.push_back(number(line));
  EXPECT_EQ(decoded, instructions_of(trace));
}

TEST_F(ProcessorTrace, IsDecodedByLibiptToEveryInstructionOfTheTrace) {
  const std::string trace = recorded("branches", {"400"}), back = scratch_.file("back");
  const Output imported = run({pmusim(), "trace", "import", "-f", "pt", "-o", back, exported(trace)});
  ASSERT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(instructions_of(back), instructions_of(trace));
}

// docs/traces.md, "Intel PT": perf samples before the instruction that makes the count full, the LBR has it
// where it is a branch; entries where tracing ends and begins are perf's alone.
TEST_F(ProcessorTrace, HasTheBranchStacksOfTheEmulatedLbrAtTheSameCounts) {
  const std::string trace = recorded("branches", {"2000"});
  const auto from_pt = perfs_stacks(exported(trace)), from_lbr = emulated_stacks(trace);
  ASSERT_GT(from_lbr.size(), 200u);
  ASSERT_EQ(from_pt.size(), from_lbr.size());
  constexpr std::size_t fewest = 16;  // of 32, where calls of the system take the rest
  for (std::size_t n = 0; n < from_lbr.size(); ++n) {
    ASSERT_EQ(from_pt[n].ip, from_lbr[n].ip) << n;
    Stack perfs = from_pt[n].branches, emulated = from_lbr[n].branches;
    std::erase_if(perfs, [](const std::string& b) { return b.starts_with("0x0/") || b.ends_with("/0x0"); });
    ASSERT_FALSE(emulated.empty());
    if (number(emulated.front()) == from_lbr[n].ip) emulated.erase(emulated.begin());
    const std::size_t both = std::min(perfs.size(), emulated.size());
    ASSERT_GE(both, n == 0 ? 1 : fewest) << n;
    perfs.resize(both);
    emulated.resize(both);
    ASSERT_EQ(perfs, emulated) << n;
  }
}

}  // namespace
}  // namespace pmusim::test

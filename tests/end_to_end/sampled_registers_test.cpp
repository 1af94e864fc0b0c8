// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/end_to_end/command.h"

/// The real perf reads the registers of precise samples, of both kinds of records.
namespace pmusim::test {
namespace {

using Registers = std::map<std::string, std::string>;

/// "IP:0x401000" and its like in one of the two blocks of a line of `perf script -F ip,iregs,uregs`.
struct Blocks {
  std::string ip;
  Registers interrupt, user;
};

Blocks blocks_of(const std::string& line) {
  Blocks blocks;
  std::istringstream words(line);
  words >> blocks.ip;
  int block = 0;
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    if (word.starts_with("ABI:"))
      ++block;
    else if (colon != word.npos)
      (block == 1 ? blocks.user : blocks.interrupt)[word.substr(0, colon)] = word.substr(colon + 1);
  }
  return blocks;
}

class SampledRegisters : public testing::TestWithParam<const char*> {};

TEST_P(SampledRegisters, AreEqualInBothMasksOfAPreciseUserSample) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data"), wanted = "ax,bx,cx,dx,si,di,bp,sp,ip,r8,r9,r12,r15";
  const Output recorded_file =
      run({pmusim(), "record", "-q", "--model", GetParam(), "-e", "cycles:upp", "-c", "211", "--intr-regs",
           wanted, "--user-regs", wanted, "-o", file, recorded("mispredict", {"1024", "2"}, "gpr")});
  ASSERT_EQ(recorded_file.status, 0) << recorded_file.err;
  unsigned samples = 0;
  for (const std::string& line : lines(perf_output({"script", "-F", "ip,iregs,uregs"}, file))) {
    const Blocks blocks = blocks_of(line);
    if (blocks.ip.empty()) continue;
    ++samples;
    EXPECT_EQ(blocks.interrupt.size(), 13u) << line;
    EXPECT_EQ(blocks.user, blocks.interrupt) << line;
    ASSERT_EQ(blocks.user.at("IP"), "0x" + blocks.ip) << line;
  }
  EXPECT_GT(samples, 100u);
}

// Fixed records of formats 2 and 3, adaptive and architectural ones.
INSTANTIATE_TEST_SUITE_P(Models, SampledRegisters,
                         testing::Values("haswell", "skylake", "icelake", "cougarcove"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace pmusim::test

// SPDX-License-Identifier: MIT
// What reads branch stacks in practice: perf, BOLT and AutoFDO.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>

#include "branch_profile.h"
#include "command.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr const char* program = "optimizable";  // linked with --emit-relocs, DWARF 4

/// A profile of the program, recorded once.
class BranchClients : public testing::Test {
 protected:
  static const std::string& profile() {
    static const ScratchDirectory scratch;
    static const std::string file = [] {
      std::string path = scratch.file("perf.data");
      const Output output = run({pmusim(), "record", "-b", "-e", "branches:u", "-c", "101", "-o", path,
                                 recorded(program, {"3000"})});
      if (output.status != 0) throw std::runtime_error(output.err);
      return path;
    }();
    return file;
  }
  /// The tool only acts as perf2bolt under exactly that name, which Debian has in the package's own
  /// directory.
  static std::string bolt(const std::string& name) {
    for (const char* version : {"16", "19"}) {
      const std::string path = std::string("/usr/lib/llvm-") + version + "/bin/" + name;
      if (std::filesystem::exists(path)) return path;
    }
    return "";
  }
  ScratchDirectory scratch;
};

TEST_F(BranchClients, PerfScriptPrintsFullStacks) {
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed (package linux-perf)";
  const Output output = run({"perf", "script", "-i", profile(), "-F", "ip,brstack"});
  ASSERT_EQ(output.status, 0) << output.err;
  const std::vector<std::string> samples = lines(output.out);
  ASSERT_GT(samples.size(), 200u);
  const std::regex entry("0x[0-9a-f]+/0x[0-9a-f]+/[MP]/-/-/[0-9]+/");
  const std::string& last = samples.back();
  EXPECT_EQ(std::distance(std::sregex_iterator(last.begin(), last.end(), entry), std::sregex_iterator()), 32);
}

TEST_F(BranchClients, PerfScriptWalksTheCodeWithoutAMismatch) {
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed (package linux-perf)";
  const Output output = run({"perf", "script", "-i", profile(), "-F", "+brstackinsn"});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, HasSubstr("# MISPRED"));
  EXPECT_THAT(output.out, HasSubstr("# PRED"));
  EXPECT_THAT(output.out, Not(HasSubstr("mismatch")));
}

// perf 6.1 says that it does not know the bit COUNTERS, and passes over the counter words behind the stack.
TEST_F(BranchClients, PerfReadsStacksThatHaveBranchCounters) {
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed (package linux-perf)";
  const std::string file = scratch.file("perf.data");
  const Output recording = run({pmusim(), "record", "--model", "lioncove", "-j", "any,counter,u", "-e",
                                "{br_inst_retired.all_branches:u,br_misp_retired.all_branches:u}", "-c", "97",
                                "-o", file, recorded("branches", {"400"})});
  ASSERT_EQ(recording.status, 0) << recording.err;
  const Output script = run({"perf", "script", "-i", file, "-F", "ip,brstack"});
  ASSERT_EQ(script.status, 0) << script.err;
  const std::vector<std::string> printed = lines(script.out);
  const std::vector<BranchSample> samples = branch_samples(file);
  ASSERT_EQ(printed.size(), samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (const perf::BranchEntry& entry : samples[i].branches)
      ASSERT_THAT(printed[i], HasSubstr(fmt::format("{:#x}/{:#x}/", entry.from, entry.to))) << i;
  const Output dump = run({"perf", "report", "-D", "-i", file});
  ASSERT_EQ(dump.status, 0) << dump.err;
  EXPECT_THAT(dump.out, HasSubstr("... branch stack: nr:32"));
}

TEST_F(BranchClients, PerfReportNamesSourcesAndTargets) {
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed (package linux-perf)";
  const Output output = run({"perf", "report", "--stdio", "-i", profile()});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, ContainsRegex("lfsr .*branches"));
  EXPECT_THAT(output.out, ContainsRegex("branches .*lfsr"));
}

TEST_F(BranchClients, PerfScriptMakesCallChainsOfTheCallStack) {
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed (package linux-perf)";
  const std::string file = scratch.file("perf.data");
  const Output recording = run({pmusim(), "record", "--model", "skylake", "--call-graph", "lbr", "-e",
                                "branches:u", "-c", "97", "-o", file, recorded("branches", {"400"})});
  ASSERT_EQ(recording.status, 0) << recording.err;
  const Output output = run({"perf", "script", "-i", file, "-F", "ip,sym"});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.out, ContainsRegex(" lfsr\n[^\n]* branches\n[^\n]* main\n"));
}

TEST_F(BranchClients, BoltFindsNoMismatchingTraceAndTakesTheProfile) {
  const std::string perf2bolt = bolt("perf2bolt"), llvm_bolt = bolt("llvm-bolt");
  if (perf2bolt.empty() || !installed("perf")) GTEST_SKIP() << "perf2bolt is not installed (package bolt-16)";
  const std::string counts = scratch.file("fdata"), optimized = scratch.file("optimized");
  const Output converted = run({perf2bolt, "-p", profile(), "-o", counts, workload(program)});
  ASSERT_EQ(converted.status, 0) << converted.err;
  const std::string report = converted.out + converted.err;
  EXPECT_THAT(report, HasSubstr("traces mismatching disassembled function contents: 0"));
  EXPECT_THAT(report, HasSubstr("0 samples (0.0%) were ignored"));

  const Output accepted = run({llvm_bolt, workload(program), "-o", optimized, "-data=" + counts,
                               "-reorder-blocks=ext-tsp", "-reorder-functions=hfsort", "-split-functions"});
  ASSERT_EQ(accepted.status, 0) << accepted.err;
  EXPECT_THAT(accepted.out + accepted.err, HasSubstr("have non-empty execution profile"));
  EXPECT_EQ(run({optimized, "1000"}).out, run({workload(program), "1000"}).out);
}

TEST_F(BranchClients, AutoFdoMapsEverySample) {
  if (!installed("create_llvm_prof")) GTEST_SKIP() << "create_llvm_prof is not installed (package autofdo)";
  const std::string text = scratch.file("afdo");
  const Output output = run({"create_llvm_prof", "--binary=" + workload(program), "--profile=" + profile(),
                             "--out=" + text, "--format=text", "--logtostderr"});
  ASSERT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, Not(HasSubstr("Bogus LBR")));
  std::smatch counts;
  const std::regex tally("([0-9]+) SAMPLE events, ([0-9]+) of these were mapped");
  ASSERT_TRUE(std::regex_search(output.err, counts, tally)) << output.err;
  EXPECT_GT(std::stoul(counts[1]), 100u);
  EXPECT_EQ(counts[1], counts[2]);
  EXPECT_THAT(read_file(text), HasSubstr("branches:"));
}

}  // namespace
}  // namespace pmusim::test

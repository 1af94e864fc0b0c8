// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "command.h"
#include "pmusim/base/types.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

const std::string& trace() {
  static const std::string path = recorded("mispredict", {"8192", "8"});
  return path;
}

TEST(ExperimentAcr, AutoCounterReloadSamplesTheSecondLoopOnly) {
  const Output result = run({pmusim(), "experiment", "acr", "--json", "--trace", trace(), "-c", "4000"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = parse_json(result.out);
  const auto& traditional = report["traditional"];
  const auto& acr = report["acr"];
  EXPECT_GT(traditional["loop1"], 0);
  EXPECT_GT(traditional["loop2"], 0);
  EXPECT_GT(traditional["by_event"]["branch-misses"], 0);
  EXPECT_GT(traditional["by_event"]["branch-instructions"], 0);
  EXPECT_EQ(acr["by_event"]["branch-instructions"], 0);
  EXPECT_EQ(acr["loop1"], 0);
  // Start-up code, which C libraries choose by the CPU that records, may miss often, too: for a sample or
  // two.
  const int elsewhere = acr["samples"].get<int>() - acr["loop2"].get<int>();
  EXPECT_GT(acr["loop2"], 30);
  EXPECT_LE(elsewhere, 2);
  const double share = acr["samples"].get<double>() / traditional["samples"].get<double>();
  EXPECT_GT(share, 0.4);
  EXPECT_LT(share, 0.6);
}

TEST(ExperimentAcr, WithoutATraceTheWorkloadIsRecordedFirst) {
  const Output result =
      run({pmusim(), "experiment", "acr", "--json", "--elements", "2048", "--passes", "8", "-c", "1000"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_GT(parse_json(result.out)["acr"]["samples"], 0);
  if (installed("qemu-x86_64")) {
    EXPECT_NE(result.err.find("recorded under qemu"), std::string::npos) << result.err;
  }
}

TEST(ExperimentAcr, MissRatesOfTheLoopsAreNearThePublishedOnes) {
  const Output result = run({pmusim(), "experiment", "acr", "--json", "--trace", trace(), "-c", "4000"});
  ASSERT_EQ(result.status, 0) << result.err;
  const auto rates = parse_json(result.out)["miss_percent"];
  EXPECT_NEAR(rates["loop1"].get<double>(), 12, 4);
  EXPECT_NEAR(rates["loop2"].get<double>(), 22.5, 4.5);
}

TEST(ExperimentAcr, PerfFindsTheSamplesOnTheSecondLoop) {
  if (!installed("perf")) FAIL() << "perf is not installed";
  const ScratchDirectory scratch;
  ASSERT_EQ(
      run({pmusim(), "experiment", "acr", "--trace", trace(), "-c", "4000", "-o", scratch.path().string()})
          .status,
      0);
  const Output report = run({"perf", "report", "--stdio", "--sort", "sym", "-i", scratch.file("acr.data")});
  EXPECT_EQ(report.status, 0) << report.err;
  EXPECT_NE(report.out.find("sum_ge128"), std::string::npos) << report.out;
  EXPECT_EQ(report.out.find("sum_ge64"), std::string::npos) << report.out;
}

TEST(ExperimentAcr, AModelWithoutReloadIsRefusedInASentence) {
  const Output result = run({pmusim(), "experiment", "acr", "--trace", trace(), "--model", "icelake"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("model 'icelake' has no auto counter reload; 'skymont' and 'darkmont' have it"),
            std::string::npos)
      << result.err;
}

TEST(AcrMask, OnAModelWithoutReloadIsRefusedInASentence) {
  const std::string group = "{branch-misses/period=2000,acr_mask=2/u,branches/period=10000,acr_mask=3/u}";
  const Output result = run({pmusim(), "record", "--model", "icelake", "-e", group, trace()});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("term 'acr_mask' needs auto counter reload, which Ice Lake does not have"),
            std::string::npos)
      << result.err;
}

TEST(AcrMask, UnderAReleaseWithoutReloadIsRefusedInASentence) {
  const std::string group = "{branch-misses/period=2000,acr_mask=2/u,branches/period=10000,acr_mask=3/u}";
  const Output result =
      run({pmusim(), "record", "--model", "skymont", "--kernel", "6.15", "-e", group, trace()});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(
      result.err.find("acr_mask: Linux 6.15 has no auto counter reload; Linux 6.16 is the first that has"),
      std::string::npos)
      << result.err;
}

TEST(AcrMask, APeriodThatNoReloadValueCanSayIsRefused) {
  const auto record = [](u64 period, std::vector<std::string> more) {
    const std::string events =
        "{branch-misses/period=2000,acr_mask=2/u,branches/period=" + std::to_string(period) +
        ",acr_mask=3/u}";
    const ScratchDirectory scratch;
    std::vector<std::string> command{
        pmusim(), "record", "--model", "skymont", "-o", scratch.file("perf.data"), "-e", events};
    command.insert(command.end(), more.begin(), more.end());
    command.push_back(trace());
    return run(command);
  };
  const Output refused = record(5'000'000'000, {});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("sample_period: 5000000000 with acr_mask is above 2147483648"),
            std::string::npos)
      << refused.err;
  EXPECT_EQ(record(u64{1} << 31, {}).status, 0);
  EXPECT_EQ(record((u64{1} << 31) + 1, {}).status, 2);
  EXPECT_EQ(record(u64{1} << 32, {"--policy", "acr_reload_extension=1"}).status, 0);
}

TEST(ExperimentAcr, AnotherProgramIsRefusedInASentence) {
  const Output result = run({pmusim(), "experiment", "acr", "--trace", recorded("branches", {"27"})});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("no module of the traced program has a function 'sum_ge64'"), std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace pmusim::test

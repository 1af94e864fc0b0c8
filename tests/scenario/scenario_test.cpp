// SPDX-License-Identifier: MIT
#include "scenario/scenario.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "pmusim/cpu/model.h"

namespace pmusim::scenario {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  const auto result = run(text, "x.pmu");
  return result.ok() ? "" : result.error().message;
}

TEST(Scenario, AWrongExpectationIsShownWithItsLineAndWhatWasFound) {
  const auto result = run("model skylake\n\nwrmsr IA32_PMC0 5\nrdmsr IA32_PMC0 = 6   # five\n", "x.pmu");
  ASSERT_TRUE(result.ok());
  ASSERT_TRUE(result->has_value());
  const Difference& difference = **result;
  EXPECT_EQ(difference.line, 4u);
  EXPECT_THAT(difference.statement, HasSubstr("rdmsr IA32_PMC0 = 6"));
  EXPECT_EQ(difference.expected, "0x6");
  EXPECT_EQ(difference.found, "0x5");
}

TEST(Scenario, FaultsAreExpectations) {
  EXPECT_FALSE(run("model skylake\nwrmsr 0x38e 1 = #GP\nrdmsr 0x3f0 = #GP\n", "x.pmu")->has_value());
  EXPECT_EQ(run("model skylake\nwrmsr 0x38e 1\n", "x.pmu")->value().found, "#GP");
}

TEST(Scenario, AFaultThatWasNotExpectedSaysWhy) {
  const auto why = [](std::string_view text) { return run(text, "x.pmu")->value().why; };
  EXPECT_THAT(why("model skylake\nwrmsr 0x38f 0x10\n"),
              HasSubstr("IA32_PERF_GLOBAL_CTRL (38FH) = 0x10: #GP: bit 4 is reserved on Skylake"));
  EXPECT_THAT(why("model skylake\nrdmsr 0x329 = 0\n"), HasSubstr("Skylake has no such register"));
  EXPECT_THAT(why("model skylake\nrdpmc 9 = 0\n"), HasSubstr("no such counter"));
  EXPECT_THAT(why("model skylake\nxsetbv 0 5\n"), HasSubstr("needs SSE"));
  EXPECT_EQ(why("model skylake\nwrmsr 0xc1 1 = #GP\n"), "");
}

TEST(Scenario, RegistersHaveTheirFields) {
  EXPECT_FALSE(
      run("model skylake\nwrmsr IA32_PERFEVTSEL0 EN|USR|0xc0\nrdmsr PERFEVTSEL0 = 0x4100c0\n", "x.pmu")
          ->has_value());
  EXPECT_THAT(error_of("model skylake\nwrmsr IA32_PERFEVTSEL0 ENN\n"), HasSubstr("no such field"));
}

TEST(Scenario, WithoutAStatementIsRefused) {
  EXPECT_THAT(error_of(""), HasSubstr("x.pmu: holds no statement"));
  EXPECT_THAT(error_of("# nothing\n\n"), HasSubstr("expected 'model NAME' first"));
}

TEST(Scenario, HoldsOnEachOfItsModels) {
  const std::string text = "wrmsr IA32_PMC0 0x80000000\nrdmsr IA32_PMC0 = 0xffff80000000\n";
  EXPECT_FALSE(run("model skylake icelake\n" + text, "x.pmu")->has_value());
  EXPECT_EQ(run("model skylake core2\n" + text, "x.pmu")->value().model, "core2");  // 40 bits wide
  EXPECT_FALSE(run("models perfmon 4 6\n" + text, "x.pmu")->has_value());
  EXPECT_TRUE(run("models perfmon 2 6\n" + text, "x.pmu")->has_value());
}

TEST(Scenario, SaysWhichCpuDiffers) {
  const auto result = run("model skylake core2\ncpus 2\ncpu 1\nwrmsr PMC0 5\nrdmsr PMC0 = 6\n", "x.pmu");
  EXPECT_EQ(result->value().model, "CPU 1 of skylake");
  EXPECT_FALSE(
      run("model skylake\ncpus 2\nwrmsr PMC0 5\ncpu 1\nrdmsr PMC0 = 0\ncpu 0\nrdmsr PMC0 = 5\n", "x.pmu")
          ->has_value());
}

TEST(Scenario, BeginsAnewWithAnotherModel) {
  EXPECT_FALSE(
      run("model skylake\nwrmsr IA32_PMC0 5\nmodel skylake\nrdmsr IA32_PMC0 = 0\n", "x.pmu")->has_value());
}

TEST(Scenario, WhatItDoesNotUnderstandIsASentenceWithTheLine) {
  EXPECT_THAT(error_of("wrmsr IA32_PMC0 1\n"), HasSubstr("x.pmu:1: expected 'model NAME' first"));
  EXPECT_THAT(error_of("model skylake\nretyre 3\n"), HasSubstr("did you mean"));
  EXPECT_THAT(error_of("model skylake\nwrmsr IA32_PMC77 1\n"), HasSubstr("no register IA32_PMC77"));
  EXPECT_THAT(error_of("model skylake\nretire 0\n"), HasSubstr("expected 1 to"));
  EXPECT_THAT(error_of("model skylake\nretire 99999999999\n"), HasSubstr("expected 1 to"));
  EXPECT_THAT(error_of("model skylake\nretire 1 sideways\n"), HasSubstr("no property"));
  EXPECT_THAT(error_of("model skylake\nread 0 = \n"), HasSubstr("at the end"));
  EXPECT_THAT(error_of("model skylake\nmemory 0 0xffffffffffff\n"), HasSubstr("cannot map"));
  EXPECT_THAT(error_of("model skylake\nmemory 0 0x100000\nmemory 0x200000 1\n"), HasSubstr("in all"));
  EXPECT_THAT(error_of("models perfmon 9 9\nreset\n"), HasSubstr("no model has perfmon 9 to 9"));
  EXPECT_THAT(error_of("model skylake\nreset\npolicy pmi_repeat 0\n"), HasSubstr("between"));
  EXPECT_THAT(error_of("model skylake\nreset\ncpus 2\n"), HasSubstr("between"));
  EXPECT_THAT(error_of("model skylake\ncpus 0\n"), HasSubstr("expected 1 to 8"));
  EXPECT_THAT(error_of("model skylake\ncpus 2\ncpu 2\n"), HasSubstr("no CPU 2: there are 2"));
  EXPECT_THAT(error_of("model skylake\ncpus 2\nmodel skylake\ncpu 1\n"), HasSubstr("no CPU 1: there are 1"));
  EXPECT_THAT(error_of("model skylake\ncpus 2\nmemory 0 0x100000\ncpu 1\nmemory 0x200000 1\n"),
              HasSubstr("in all"));
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ScenarioFile : public testing::TestWithParam<std::filesystem::path> {};

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(PMUSIM_SCENARIOS))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST_P(ScenarioFile, Holds) {
  const auto result = run(content_of(GetParam()), GetParam().filename());
  ASSERT_TRUE(result.ok()) << result.error().message;
  if (result->has_value()) {
    const Difference& difference = **result;
    FAIL() << GetParam().filename() << ":" << difference.line << ": " << difference.statement << "\nexpected "
           << difference.expected << "\nfound    " << difference.found << " on " << difference.model;
  }
}

/// Policies of the core before the PMU, which a scenario has not.
constexpr std::string_view of_the_core[] = {"prefetchers_off", "pmi_cost_cycles", "pmi_cost_instructions",
                                            "tx_conflict_every"};

TEST(ScenarioFiles, ShowWhatEachPolicyChangesInThePmu) {
  std::string texts;
  for (const std::filesystem::path& path : files()) texts += content_of(path);
  for (const PolicyInfo& policy : policy_table()) {
    if (std::ranges::find(of_the_core, policy.name) != std::end(of_the_core)) continue;
    std::string statement = "\npolicy ";
    statement.append(policy.name).append(" ");
    EXPECT_NE(texts.find(statement), texts.npos) << "no scenario sets " << policy.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioFile, testing::ValuesIn(files()), [](const auto& file) {
  std::string name = file.param.stem();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace pmusim::scenario

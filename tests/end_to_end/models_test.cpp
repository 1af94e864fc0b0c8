// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

TEST(ModelsCommand, ListsOneModelALine) {
  const Output models = run({pmusim(), "models"});
  EXPECT_EQ(models.status, 0);
  EXPECT_GT(lines(models.out).size(), 30u);
  EXPECT_THAT(models.out, HasSubstr("skymont"));
}

TEST(ModelsCommand, JsonIsAnArrayWithOneObjectForEachModel) {
  const Json models = parse_json(run({pmusim(), "models", "--json"}).out);
  ASSERT_TRUE(models.is_array());
  for (const Json& model : models) EXPECT_TRUE(model.contains("perfmon_version")) << model["name"];
  const Json skymont = parse_json(run({pmusim(), "models", "skymont", "--json"}).out).at(0);
  EXPECT_EQ(skymont["fixed_counters"], "0x77");
  EXPECT_EQ(skymont["pebs"]["format"], 6);
}

TEST(ModelsCommand, ThePageOfModelsIsWhatItPrints) {
  std::ifstream file(PMUSIM_SOURCE_DIR "/docs/models.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(run({pmusim(), "models", "--markdown"}).out, page);
}

TEST(ModelsCommand, MarkdownOfOneModelSaysHowItsFactsAreKnown) {
  const std::string skymont = run({pmusim(), "models", "--markdown", "skymont"}).out;
  EXPECT_THAT(skymont, HasSubstr("| counters | perfmon 6, 8 general, fixed 0x77, 48 bits | dumped |\n"));
  EXPECT_THAT(skymont, Not(HasSubstr("## darkmont")));
}

TEST(ModelsCommand, AnUnknownModelEndsWithNearMatchesAndStatus2) {
  const Output models = run({pmusim(), "models", "skylkae"});
  EXPECT_EQ(models.status, 2);
  EXPECT_EQ(models.err, "pmusim: unknown CPU model 'skylkae'; did you mean skylake?\n");
}

TEST(MsrCommand, DescribesOneRegisterByAddress) {
  const Output msr = run({pmusim(), "msr", "--model", "skylake", "0x38f"});
  EXPECT_EQ(msr.status, 0);
  EXPECT_THAT(msr.out, HasSubstr("IA32_PERF_GLOBAL_CTRL (0x38f) on Skylake"));
  EXPECT_THAT(msr.out, HasSubstr("reset      0xf\n"));
  EXPECT_THAT(msr.out, HasSubstr("bits 34:32, 3:0"));
}

TEST(MsrCommand, MarksBitsThatTheModelLacks) {
  const auto status = [](const char* model) { return run({pmusim(), "msr", "--model", model, "38e"}).out; };
  EXPECT_THAT(status("core2"), HasSubstr("58     LBR_FRZ  (reserved here)"));
  EXPECT_THAT(status("core2"), HasSubstr("62     DS buffer\n"));
  EXPECT_THAT(status("skylake"), HasSubstr("58     LBR_FRZ\n"));
}

TEST(MsrCommand, TellsBitsThatAreDroppedFromThoseThatFault) {
  const auto text = [](const char* name) { return run({pmusim(), "msr", "--model", "genoa", name}).out; };
  EXPECT_THAT(text("PerfCntrGlobalCtl"), HasSubstr("dropped    0xffffffffffffffc0\n  reserved   -\n"));
  EXPECT_THAT(text("DebugExtnCtl"), HasSubstr("reserved   0xffffffffffffffbf  #GP if set\n"));
}

TEST(MsrCommand, TakesNamesWithAndWithoutPrefixAndPatterns) {
  const Output by_name = run({pmusim(), "msr", "--model", "lioncove", "pmc3"});
  EXPECT_THAT(by_name.out, HasSubstr("IA32_PMC3 (0xc4)"));
  EXPECT_THAT(by_name.out, HasSubstr("also at    0x190c IA32_PMC_GP3_CTR"));
  EXPECT_EQ(by_name.out, run({pmusim(), "msr", "--model", "lioncove", "c4"}).out);
  EXPECT_THAT(run({pmusim(), "msr", "--model", "skylake", "*LBR*"}).out,
              HasSubstr("dc0..ddf         MSR_LBR_INFO_0..31"));
}

TEST(MsrCommand, JsonHasEveryRegisterOfTheModel) {
  const Json registers = parse_json(run({pmusim(), "msr", "--model", "core2", "--json"}).out);
  const auto has = [&](std::string_view name) {
    return std::any_of(registers.begin(), registers.end(), [&](const Json& r) { return r["name"] == name; });
  };
  EXPECT_TRUE(has("IA32_PMC1"));
  EXPECT_FALSE(has("IA32_PMC2"));
}

TEST(MsrCommand, JsonHasTheFieldsOfTheModel) {
  const auto fields = [](const char* model) {
    return parse_json(run({pmusim(), "msr", "--model", model, "38f", "--json"}).out).at(0)["fields"];
  };
  EXPECT_EQ(fields("core2").size(), 2u);
  EXPECT_EQ(fields("icelake").at(2), (Json{{"bits", "48"}, {"name", "enable PERF_METRICS"}}));
}

TEST(MsrCommand, BadInputIsExplainedWithStatus2) {
  const Output absent = run({pmusim(), "msr", "--model", "skylake", "0x1900"});
  EXPECT_EQ(absent.status, 2);
  EXPECT_THAT(absent.err, HasSubstr("MSR 0x1900 does not exist on Skylake"));
  EXPECT_THAT(absent.err, HasSubstr("lioncove"));
  const Output typo = run({pmusim(), "msr", "--model", "skylake", "IA32_PREF_GLOBAL_CTRL"});
  EXPECT_EQ(typo.status, 2);
  EXPECT_THAT(typo.err, HasSubstr("did you mean PERF_GLOBAL_CTRL"));
  EXPECT_EQ(run({pmusim(), "msr", "--model", "nothing-like-it"}).status, 2);
}

TEST(PoliciesCommand, ListsNamesThatOtherCommandsTake) {
  const Json policies = parse_json(run({pmusim(), "policies", "--json"}).out);
  ASSERT_GT(policies.size(), 20u);
  for (const Json& policy : policies) {
    const std::string setting = policy["name"].get<std::string>() + "=" + policy["default"].dump();
    EXPECT_EQ(run({pmusim(), "msr", "--policy", setting, "38f"}).status, 0) << setting;
  }
}

TEST(PoliciesCommand, AnUnknownNameGivesNearMatchesAndStatus2) {
  const Output policies = run({pmusim(), "policies", "pebs_*", "pmi_skid"});
  EXPECT_EQ(policies.status, 2);
  EXPECT_EQ(policies.err,
            "pmusim: no policy 'pmi_skid'; did you mean pmi_skid_cycles or pebs_pmi_skid_cycles?\n");
}

TEST(ModelsCommand, ShowsHowTwoModelsDiffer) {
  const Output same = run({pmusim(), "models", "--diff", "skylake", "skylake"});
  EXPECT_EQ(lines(same.out).size(), 1u) << same.out;
  const std::string text = run({pmusim(), "models", "--diff", "skylake", "icelake"}).out;
  EXPECT_THAT(text, ContainsRegex("gp_counters +0xf +0xff\n"));
  EXPECT_THAT(text, ContainsRegex("pebs.format +3 +4\n"));
  EXPECT_THAT(text, Not(HasSubstr("counter_width")));  // 48 bits, both
}

TEST(ModelsCommand, DifferencesAsJsonHoldBothValues) {
  const Json all = parse_json(run({pmusim(), "models", "--json", "--diff", "skylake", "icelake"}).out);
  const auto depth = std::ranges::find(all, "cpuid.0xa.0.edx", [](const Json& d) { return d["what"]; });
  ASSERT_NE(depth, all.end());
  EXPECT_NE((*depth)["skylake"], (*depth)["icelake"]);
}

TEST(ModelsCommand, DifferencesAreThoseOfTwo) {
  const Output one = run({pmusim(), "models", "--diff", "skylake"});
  EXPECT_EQ(one.status, 2);
  EXPECT_EQ(one.err, "pmusim: --diff compares two models, not 1: --diff icelake skylake\n");
}

}  // namespace
}  // namespace pmusim::test

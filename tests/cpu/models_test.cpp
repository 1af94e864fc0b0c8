// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include <set>

#include "cpu/model_names.h"
#include "pmusim/cpu/model.h"

namespace pmusim {
namespace {

TEST(CpuModels, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const CpuModel& model : cpu_models()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_EQ(find_cpu_model(model.name).value().title, model.title);
  }
  EXPECT_GE(names.size(), 30u);
}

TEST(CpuModels, AnUnknownNameGetsTheNearestOnes) {
  EXPECT_THROW(static_cast<void>(CpuModel(*find_cpu_model("skylakee"))), NoValue);
  try {
    static_cast<void>(CpuModel(*find_cpu_model("skylakee")));
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "unknown CPU model 'skylakee'; did you mean skylake or skylake-x?");
  }
  EXPECT_EQ(find_cpu_model("skylkae").error().message, "unknown CPU model 'skylkae'; did you mean skylake?");
  EXPECT_THAT(find_cpu_model("xyz").error().message, ::testing::HasSubstr("'pmusim models' lists them all"));
}

TEST(CpuModels, ProductsAreFoundByTheNamesThatPeopleKnow) {
  for (const ModelAlias& alias : model_aliases()) {
    EXPECT_EQ(find_cpu_model(alias.name).value().name, alias.model);
    EXPECT_TRUE(alias.e_core.empty() || find_cpu_model(alias.e_core).ok()) << alias.e_core;
  }
  EXPECT_EQ(find_cpu_model("raptorlake").value().name, "goldencove");
  EXPECT_EQ(find_cpu_model("arrowlake_s").value().name, "lioncove");
  EXPECT_EQ(find_model_alias("pantherlake")->e_core, "darkmont");
}

TEST(CpuModels, AModelOfOnesOwnIsAPresetWithMembersChanged) {  // "Skylake, but with 8 GP counters"
  CpuModel mine = find_cpu_model("skylake").value();
  mine.name = "skylake-ht-off";
  mine.gp_counters = 0xFF;
  EXPECT_EQ(cpuid(mine, 0xA, 0).eax, 0x07300804u);
  EXPECT_EQ(mine.counters(), 0x7000000FFu);
}

TEST(Policies, EveryRowOfTheTableNamesAnotherMember) {
  Policies policies;
  u32 next = 1000;
  for (const PolicyInfo& policy : policy_table()) policies.*policy.member = next++;
  next = 1000;
  for (const PolicyInfo& policy : policy_table()) EXPECT_EQ(policies.*policy.member, next++) << policy.name;
  EXPECT_EQ(policy_table().size() * sizeof(u32), sizeof(Policies)) << "a policy is missing from the table";
}

TEST(Policies, EachTakesItsRangeAndNoMore) {
  for (const PolicyInfo& policy : policy_table()) {
    Policies policies;
    EXPECT_TRUE(set_policy(policies, policy.name, std::to_string(policy.greatest)).ok());
    EXPECT_EQ(policies.*policy.member, policy.greatest);
    EXPECT_FALSE(set_policy(policies, policy.name, std::to_string(u64{policy.greatest} + 1)).ok())
        << policy.name;
    EXPECT_LE(Policies().*policy.member, policy.greatest) << policy.name;
  }
}

TEST(Policies, CanHaveMoreThanTwoValues) {
  Policies policies;
  ASSERT_TRUE(set_policy(policies, "global_ctrl_reset", "2").ok());  // none, as older editions of the SDM say
  EXPECT_EQ(policies.global_ctrl_reset, 2u);
}

TEST(Policies, WrongNamesAndValuesAreExplained) {
  Policies policies;
  EXPECT_TRUE(set_policy(policies, "pmi_skid_cycles", "0x10").ok());
  EXPECT_EQ(policies.pmi_skid_cycles, 16u);
  EXPECT_EQ(set_policy(policies, "pmi_skid", "1").error().message,
            "unknown policy 'pmi_skid'; did you mean pmi_skid_cycles or pebs_pmi_skid_cycles?");
  EXPECT_EQ(set_policy(policies, "acr_tie", "many").error().message,
            "policy acr_tie: 'many' is not a number from 0 to 1");
}

}  // namespace
}  // namespace pmusim

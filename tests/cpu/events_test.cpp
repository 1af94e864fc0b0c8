// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cpu/core_facts.h"

namespace pmusim::events_test {
namespace {

CpuModel ice_lake() {
  CpuModel model;
  model.model = 0x7E;
  model.events = core_facts(Microarchitecture::ice_lake).events;
  return model;
}

TEST(FindEvent, AnswersWithTheVendorsRow) {
  const auto event = find_event(ice_lake(), 0xC5, 0x00);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->name, "BR_MISP_RETIRED.ALL_BRANCHES");
  EXPECT_TRUE(event->rule.matches({Signal::instruction, Signal::mispredicted}));
  EXPECT_FALSE(event->rule.matches({Signal::instruction, Signal::branch}));
}

TEST(FindEvent, UmasksThatAreBitsOfOneEventCountTheirUnionOnce) {
  const auto event = find_event(ice_lake(), 0xD1, 0x03);  // L1_HIT | L2_HIT
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->rule.matches({Signal::load_l1_hit}));
  EXPECT_TRUE(event->rule.matches({Signal::load_l2_hit, Signal::load_l1_miss}));
  EXPECT_FALSE(event->rule.matches({Signal::load_l3_hit}));
}

TEST(FindEvent, ACombinationWithAnUnknownBitIsNotCounted) {
  EXPECT_FALSE(find_event(ice_lake(), 0xD1, 0x81));
  EXPECT_FALSE(find_event(ice_lake(), 0xD0, 0xC1)) << "D0's umask bits qualify each other";
  EXPECT_FALSE(find_event(ice_lake(), 0xFE, 0x01));
}

TEST(FindEvent, EventZeroCountsNothingOnAGeneralPurposeCounter) {  // SDM vol. 3, fixed-function counters
  EXPECT_FALSE(find_event(ice_lake(), 0x00, 0x01));
  EXPECT_EQ(find_fixed_event(ice_lake(), 0)->name, "INST_RETIRED.ANY");
  EXPECT_EQ(find_fixed_event(ice_lake(), 3)->name, "TOPDOWN.SLOTS");
  EXPECT_FALSE(find_fixed_event(ice_lake(), 4));
}

TEST(FindEvent,
     Umask2IsPartOfTheEvent) {  // Lion Cove: C4 umask 111 counts conditional branches, 11 no known event
  CpuModel model;
  model.events = core_facts(Microarchitecture::lion_cove).events;
  EXPECT_EQ(selected_event(model, 0x0100'0053'11C4)->name, "BR_INST_RETIRED.COND");
  EXPECT_FALSE(selected_event(model, 0x0000'0053'11C4));
}

TEST(FindEvent, OffCoreEventsOfTheSecondRegisterAreThoseOfTheFirst) {
  EXPECT_EQ(selected_event(ice_lake(), 0x5301B7, 0x10001)->name, "OCR.DEMAND_DATA_RD.ANY_RESPONSE");
  EXPECT_EQ(selected_event(ice_lake(), 0x5301BB, 0x3FFFC00001)->name, "OCR.DEMAND_DATA_RD.L3_MISS");
  EXPECT_FALSE(selected_event(ice_lake(), 0x5301B7)) << "no request chosen";
}

TEST(FindEvent, FrontEndEventsAreChosenByTheirExtraRegister) {
  EXPECT_EQ(find_event(ice_lake(), 0xC6, 0x01, 0x12)->name, "FRONTEND_RETIRED.L1I_MISS");
  EXPECT_EQ(find_event(ice_lake(), 0xC6, 0x01, 0x500106)->name, "FRONTEND_RETIRED.LATENCY_GE");
  EXPECT_FALSE(find_event(ice_lake(), 0xC6, 0x01, 0x100206))
      << "one empty slot: fetch bandwidth is not modelled";
  EXPECT_FALSE(find_event(ice_lake(), 0xC6, 0x03, 0x500106)) << "the umask of later cores";
}

}  // namespace
}  // namespace pmusim::events_test

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tests/pebs/pebs_machine.h"

namespace pmusim {
namespace {

using Outcome = Assist::Outcome;
using testing::model_with_format;
using testing::PebsMachine;

constexpr u64 gp0 = 1, gp1 = 2;
constexpr u64 mem_load_retired_l1_hit = 0x01D1 | msr::evtsel::USR | msr::evtsel::EN;

/// Counters 0 and 1 write records; on parts that sample only precise events they count one.
void enable_two(PebsMachine& m) {
  m.write(msr::PERFEVTSEL0, mem_load_retired_l1_hit);
  m.write(msr::PERFEVTSEL0 + 1, mem_load_retired_l1_hit);
  m.write(msr::PEBS_ENABLE, gp0 | gp1);
}

u64 status_of(const PebsMachine& m, unsigned format) {
  if (format >= 4) return m.record_at<pebs::BasicGroup>(0).applicable_counters;
  return m.record_at<pebs::FixedRecord>(0).status;
}

class Chains : public ::testing::TestWithParam<unsigned> {};

TEST_P(Chains, A0_B0_A1_C0_WritesOneRecordOfCounter0) {  // docs/pebs.md
  PebsMachine m(GetParam());
  enable_two(m);
  m.overflow(gp0, 100);
  m.overflow(gp1, 112);  // 0 is armed since 110
  const auto assist = m.retire(115, gp0 | gp1);
  ASSERT_TRUE(assist);
  EXPECT_EQ(assist->clear_status, gp0);
  EXPECT_EQ(status_of(m, GetParam()), GetParam() < 3 ? 0b11u : 0b01u);
  EXPECT_EQ(m.counters.status(), gp1);
}

TEST_P(Chains, A0_B0_A1_B1_C01_WritesOneRecordForBoth) {  // case 2
  PebsMachine m(GetParam());
  enable_two(m);
  m.overflow(gp0, 100);
  m.overflow(gp1, 104);
  const auto assist = m.retire(120, gp0 | gp1);
  ASSERT_TRUE(assist);
  EXPECT_EQ(assist->clear_status, gp0 | gp1);
  EXPECT_EQ(status_of(m, GetParam()), 0b11u);
  EXPECT_EQ(m.counters.status(), 0u);
  EXPECT_FALSE(m.pebs.busy());
}

TEST_P(Chains, AnArmedCounterWithoutItsEventOnlyTaintsTheStatusCopy) {
  PebsMachine m(GetParam());
  enable_two(m);
  m.overflow(gp0 | gp1, 100);
  ASSERT_TRUE(m.retire(120, gp0));
  EXPECT_EQ(status_of(m, GetParam()), GetParam() < 3 ? 0b11u : 0b01u);
  EXPECT_TRUE(m.retire(121, gp1)) << "counter 1 still waits for its own record";
}

INSTANTIATE_TEST_SUITE_P(Formats, Chains, ::testing::Values(1, 2, 3, 4, 5, 6));

TEST(Assist, PreciseDistributionRecordsTheOverflowingInstruction) {
  CpuModel model = model_with_format(4);
  model.pebs.distribution = gp0;
  PebsMachine m(model);
  enable_two(m);
  m.overflow(gp0 | gp1, 100);
  const auto assist = m.retire(100, gp0 | gp1);
  ASSERT_TRUE(assist);
  EXPECT_EQ(assist->clear_status, gp0);
  EXPECT_EQ(m.record_at<pebs::BasicGroup>(0).eventing_ip, 0x1000u + 4 * 100);
}

TEST(Assist, ReloadsTheResetSlotTruncatedToTheCounterWidth) {
  PebsMachine m(4);
  enable_two(m);
  m.write(msr::PEBS_ENABLE, u64{1} << 32);
  m.set_pointer(*reset_slot_offset(DsWidth::bits_64, 4, 32), 0 - u64{1000});
  m.overflow(u64{1} << 32, 100);
  ASSERT_TRUE(m.retire(120, u64{1} << 32));
  EXPECT_EQ(m.counters.value(32), low_bits(48) - 999);
}

TEST(Assist, AFullBufferTakesNothingAndSignalsNothing) {
  PebsMachine m(3);
  enable_two(m);
  m.set_pointer(offsetof(DsArea64, pebs_maximum), PebsMachine::buffer + 200);
  m.overflow(gp0, 100);
  ASSERT_TRUE(m.retire(120, gp0));
  m.overflow(gp0, 200);
  const auto assist = m.retire(220, gp0);
  EXPECT_EQ(assist->outcome, Outcome::full);
  EXPECT_EQ(assist->raise_status, 0u);
  EXPECT_EQ(assist->reloads.size(), 1u) << "policy pebs_reload_when_full";
  EXPECT_EQ(m.index(), PebsMachine::buffer + 200);
}

TEST(Assist, EventsThatDoNotRetireWriteNoRecordBeforeAdaptivePebs) {
  PebsMachine m(3);
  enable_two(m);
  m.write(msr::PERFEVTSEL0, 0x003C | msr::evtsel::USR | msr::evtsel::EN);  // cycles
  m.overflow(gp0, 100);
  EXPECT_FALSE(m.pebs.busy());
}

TEST(Assist, CountersWithoutTheAdaptiveBitWriteTheBasicGroupAlone) {
  PebsMachine m(4);
  enable_two(m);
  m.write(msr::PEBS_DATA_CFG, pebs::data_cfg::MEMORY | pebs::data_cfg::GPRS);
  m.overflow(gp0, 100);
  ASSERT_TRUE(m.retire(120, gp0));
  EXPECT_EQ(m.index(), PebsMachine::buffer + 32);
  EXPECT_EQ(m.record_at<pebs::BasicGroup>(0).format, 0u);
  m.write(msr::PERFEVTSEL0, mem_load_retired_l1_hit | msr::evtsel::ADAPTIVE);
  m.overflow(gp0, 200);
  ASSERT_TRUE(m.retire(220, gp0));
  EXPECT_EQ(m.record_at<pebs::BasicGroup>(32).size, 208u);
}

TEST(Assist, ArchitecturalRecordsFollowTheCountersOwnConfiguration) {
  PebsMachine m(PebsFeatures::architectural);
  m.write(msr::V6_GP0_CFG_C, pebs::cfg_c::ENABLE | pebs::cfg_c::AUX | to_field(0 - u64{100}, 31, 0));
  m.overflow(gp0, 100);
  ASSERT_TRUE(m.retire(120, gp0));
  const auto head = m.record_at<pebs::ArchHeader>(0);
  EXPECT_EQ(head.word & pebs::header::SIZE, 128u);
  EXPECT_EQ(m.record_at<pebs::ArchBasic>(16).applicable_counters, gp0);
  EXPECT_EQ(m.read(msr::PEBS_INDEX) & pebs::index_register::WRITE_OFFSET, 128u);
  EXPECT_EQ(m.counters.value(0), low_bits(48) - 99);
}

/// Architectural PEBS that splits records longer than so many bytes.
CpuModel fragmenting(u32 bytes) {
  CpuModel model = testing::model_with_format(PebsFeatures::architectural);
  model.policies.pebs_fragment_bytes = bytes;
  return model;
}

TEST(Assist, ALongArchitecturalRecordIsWrittenInFragments) {
  using namespace pebs;
  PebsMachine m(fragmenting(128));
  m.lbr = {{.from = 0x10, .to = 0x20}};
  m.write(msr::V6_GP0_CFG_C, cfg_c::ENABLE | cfg_c::AUX | cfg_c::GPRS | cfg_c::LBR);
  m.overflow(gp0, 100);
  ASSERT_TRUE(m.retire(120, gp0));
  EXPECT_EQ(m.record_at<ArchHeader>(0).word,
            header::BASIC | header::MODE_64 | header::CONTINUED | cfg_c::AUX | 128);
  EXPECT_EQ(m.record_at<ArchBasic>(16).applicable_counters, gp0);
  EXPECT_EQ(m.record_at<ArchHeader>(128).word, header::MODE_64 | header::CONTINUED | cfg_c::GPRS | 176);
  EXPECT_EQ(m.record_at<ArchGprs>(144).registers.rip, PebsMachine::instruction(120).next_ip);
  EXPECT_EQ(m.record_at<ArchHeader>(304).word, header::MODE_64 | cfg_c::LBR | 832);
  EXPECT_EQ(m.record_at<ArchLbrHeader>(320).depth, 32u);
  EXPECT_EQ(m.record_at<LbrRecord>(368).from, 0x10u);
  EXPECT_EQ(m.read(msr::PEBS_INDEX) & index_register::WRITE_OFFSET, 1136u) << "moves by the whole record";
}

TEST(Assist, FragmentsThatDoNotAllFitAreNotWrittenAtAll) {
  PebsMachine m(fragmenting(64));
  m.write(msr::V6_GP0_CFG_C, pebs::cfg_c::ENABLE | pebs::cfg_c::AUX);
  const u64 room_for_the_first = PebsMachine::buffer_bytes - 64;
  m.write(msr::PEBS_INDEX, pebs::index_register::ENABLE | room_for_the_first);
  m.overflow(gp0, 100);
  EXPECT_EQ(m.retire(120, gp0)->outcome, Outcome::full);
  EXPECT_EQ(m.record_at<pebs::ArchHeader>(room_for_the_first).word, 0u);
  EXPECT_EQ(m.read(msr::PEBS_INDEX) & pebs::index_register::WRITE_OFFSET, room_for_the_first);
  EXPECT_NE(m.read(msr::PEBS_INDEX) & pebs::index_register::FULL, 0u);
}

TEST(Assist, ArchitecturalThresholdRaisesBit54) {
  PebsMachine m(PebsFeatures::architectural);
  m.write(msr::PEBS_INDEX, pebs::index_register::ENABLE | to_field(1, 58, 36));
  m.write(msr::V6_GP0_CFG_C, pebs::cfg_c::ENABLE);
  m.overflow(gp0, 100);
  EXPECT_EQ(m.retire(120, gp0)->raise_status, msr::status::ARCH_PEBS);
  EXPECT_EQ(m.read(msr::PEBS_INDEX), 0x0000'0011'0000'0040u);
}

TEST(Assist, ArchitecturalBufferSetsFullWhenARecordDoesNotFit) {
  PebsMachine m(PebsFeatures::architectural);
  m.write(msr::V6_GP0_CFG_C, pebs::cfg_c::ENABLE);
  const u64 last_unit = PebsMachine::buffer_bytes - 16;
  m.write(msr::PEBS_INDEX, pebs::index_register::ENABLE | last_unit);
  m.overflow(gp0, 100);
  EXPECT_EQ(m.retire(120, gp0)->outcome, Outcome::full);
  EXPECT_NE(m.read(msr::PEBS_INDEX) & pebs::index_register::FULL, 0u);
}

// --- set-ups that no driver should make
// ----------------------------------------------------------------------

Outcome outcome_with(u64 pointer_offset, u64 value) {
  PebsMachine m(3);
  enable_two(m);
  m.set_pointer(pointer_offset, value);
  m.overflow(gp0, 100);
  return m.retire(120, gp0)->outcome;
}

TEST(BadSetUp, OfTheBufferIsDefined) {
  constexpr u64 base = offsetof(DsArea64, pebs_base), index = offsetof(DsArea64, pebs_index),
                maximum = offsetof(DsArea64, pebs_maximum), threshold = offsetof(DsArea64, pebs_threshold);
  EXPECT_EQ(outcome_with(index, PebsMachine::buffer - 200), Outcome::index_before_base);
  EXPECT_EQ(outcome_with(index, PebsMachine::buffer + 2), Outcome::misaligned);
  EXPECT_EQ(outcome_with(index, ~u64{0} - 3), Outcome::full);
  EXPECT_EQ(outcome_with(base, ~u64{0} - 7), Outcome::index_before_base);
  EXPECT_EQ(outcome_with(maximum, 0), Outcome::full);
  EXPECT_EQ(outcome_with(maximum, PebsMachine::buffer + 199), Outcome::full);
  EXPECT_EQ(outcome_with(threshold, 0), Outcome::wrote);
}

TEST(BadSetUp, ThresholdZeroInterruptsOnEveryRecord) {
  PebsMachine m(3);
  enable_two(m);
  m.set_pointer(offsetof(DsArea64, pebs_threshold), 0);
  m.overflow(gp0, 100);
  EXPECT_EQ(m.retire(120, gp0)->raise_status, msr::status::OVF_BUF);
}

TEST(BadSetUp, OfTheBufferEndBeyondMappedMemoryWritesNothing) {
  PebsMachine m(3);
  enable_two(m);
  m.set_pointer(offsetof(DsArea64, pebs_maximum), ~u64{0});
  m.set_pointer(offsetof(DsArea64, pebs_index), PebsMachine::buffer + PebsMachine::buffer_bytes - 8);
  m.overflow(gp0, 100);
  EXPECT_EQ(m.retire(120, gp0)->outcome, Outcome::unmapped);
}

TEST(BadSetUp, OfTheAreaIsDefined) {
  const auto outcome_at = [](u64 area) {
    PebsMachine m(3);
    enable_two(m);
    m.write(msr::DS_AREA, area);
    m.overflow(gp0, 100);
    return m.retire(120, gp0)->outcome;
  };
  EXPECT_EQ(outcome_at(0), Outcome::no_area);
  EXPECT_EQ(outcome_at(0x7000'0000), Outcome::unmapped);
  EXPECT_EQ(outcome_at(PebsMachine::area + 0xFE0), Outcome::unmapped) << "runs off its page";
  EXPECT_EQ(outcome_at(PebsMachine::area + 1), Outcome::misaligned);
  PebsMachine m(3);
  EXPECT_EQ(m.try_write(msr::DS_AREA, u64{1} << 52), Fault::gp) << "not canonical";
}

TEST(BadSetUp, OfTheArchitecturalBufferIsDefined) {
  const auto outcome_with_registers = [](u64 base, u64 index) {
    PebsMachine m(PebsFeatures::architectural);
    m.write(msr::V6_GP0_CFG_C, pebs::cfg_c::ENABLE);
    m.write(msr::PEBS_BASE, base);
    m.write(msr::PEBS_INDEX, index);
    m.overflow(gp0, 100);
    return m.retire(120, gp0)->outcome;
  };
  constexpr u64 on = pebs::index_register::ENABLE;
  EXPECT_EQ(outcome_with_registers(0, on), Outcome::no_area);
  EXPECT_EQ(outcome_with_registers(PebsMachine::buffer, 0), Outcome::no_area);
  EXPECT_EQ(outcome_with_registers(0x7000'0000, on), Outcome::unmapped);
  EXPECT_EQ(outcome_with_registers(PebsMachine::buffer, on | 4096), Outcome::full);
  EXPECT_EQ(outcome_with_registers(PebsMachine::buffer, on | pebs::index_register::FULL), Outcome::full);
}

}  // namespace
}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>

#include "pmusim/arch/debug_store.h"

namespace pmusim::pebs {
namespace {

TEST(FixedRecord, SizesAreThoseOfTheManual) {
  EXPECT_EQ(fixed_record_bytes(0), 144u);
  EXPECT_EQ(fixed_record_bytes(1), 176u);
  EXPECT_EQ(fixed_record_bytes(2), 192u);
  EXPECT_EQ(fixed_record_bytes(3), 200u);
}

TEST(FixedRecord, A64KiBBufferHoldsAsManyRecordsAsLinuxComputes) {
  EXPECT_EQ(65536 / fixed_record_bytes(1), 372u);
  EXPECT_EQ(65536 / fixed_record_bytes(1) * fixed_record_bytes(1), 65472u);
  EXPECT_EQ(65536 / fixed_record_bytes(2) * fixed_record_bytes(2), 65472u);
  EXPECT_EQ(65536 / fixed_record_bytes(3) * fixed_record_bytes(3), 65400u);
}

TEST(AdaptiveLayout, SizeFollowsTheLowNibbleOfDataCfg) {  // with 32 LBR entries: SDM vol. 3, adaptive PEBS
  constexpr std::array<u32, 16> expected{32,  64,  176, 208, 288,  320,  432,  464,
                                         800, 832, 944, 976, 1056, 1088, 1200, 1232};
  for (u32 nibble = 0; nibble < 16; ++nibble)
    EXPECT_EQ(adaptive_layout(31u << 24 | nibble).size, expected[nibble]) << nibble;
}

TEST(AdaptiveLayout, CountersComeLastAndGrowWithTheIncludeMasks) {
  const u64 two_gp_one_fixed = u64{0b11} << 32 | u64{0b1} << 48;
  const AdaptiveLayout plain = adaptive_layout(data_cfg::MEMORY | data_cfg::COUNTERS | two_gp_one_fixed);
  EXPECT_EQ(plain.counters, 64u);
  EXPECT_EQ(plain.size, 64u + 16 + 3 * 8);
  const AdaptiveLayout metrics = adaptive_layout(data_cfg::COUNTERS | data_cfg::METRICS | two_gp_one_fixed);
  EXPECT_EQ(metrics.size, 32u + 16 + 3 * 8 + 16);
}

TEST(ArchLayout, GroupsAddUpToTheSizesOfTheManual) {
  constexpr u64 basic = header::BASIC;
  EXPECT_EQ(arch_layout(basic, 32).size, 64u);
  EXPECT_EQ(arch_layout(basic | cfg_c::AUX, 32).size, 128u);
  EXPECT_EQ(arch_layout(basic | cfg_c::AUX | cfg_c::GPRS, 32).size, 288u);
  EXPECT_EQ(arch_layout(basic | cfg_c::AUX | cfg_c::GPRS | cfg_c::LBR, 32).size, 1104u);
  const u64 vectors = cfg_c::VECTORS & ~cfg_c::EGPR;
  EXPECT_EQ(arch_layout(basic | cfg_c::AUX | cfg_c::GPRS | vectors | cfg_c::LBR, 32).size, 3232u);
}

TEST(ArchLayout, LbrCodeChoosesTheNumberOfEntries) {
  EXPECT_EQ(arch_lbr_entries(0, 32), 0u);
  EXPECT_EQ(arch_lbr_entries(u64{1} << 40, 32), 8u);
  EXPECT_EQ(arch_lbr_entries(u64{2} << 40, 32), 16u);
  EXPECT_EQ(arch_lbr_entries(u64{3} << 40, 32), 32u);
}

TEST(ResetSlots, FixedCountersFollowEightOrThirtyTwoGeneralOnes) {
  EXPECT_EQ(reset_slot_offset(DsWidth::bits_64, 1, 0), 0x40u);
  EXPECT_EQ(reset_slot_offset(DsWidth::bits_64, 1, 3), 0x58u);
  EXPECT_EQ(reset_slot_offset(DsWidth::bits_64, 4, 32), 0x80u);
  EXPECT_EQ(reset_slot_offset(DsWidth::bits_64, 5, 31), 0x138u);
  EXPECT_EQ(reset_slot_offset(DsWidth::bits_64, 5, 32), 0x140u);
  EXPECT_EQ(reset_slot_offset(DsWidth::bits_64, 5, 47), 0x1B8u);
  EXPECT_EQ(reset_slot_offset(DsWidth::bits_32, 1, 32), 0x60u);
  EXPECT_FALSE(reset_slot_offset(DsWidth::bits_64, 4, 8));
}

TEST(PebsIndex, EncodesFourUnitsThresholdOneAndEnable) {
  const u64 value = (4 * index_register::unit_bytes) | index_register::ENABLE | to_field(1, 58, 36);
  EXPECT_EQ(value, 0x0000'0011'0000'0040u);
  EXPECT_EQ(value & index_register::WRITE_OFFSET, 64u);
}

TEST(PebsBase, SizeFieldFourIs64KiB) { EXPECT_EQ(base_register::bytes(0x10'0000 | 4), 65536u); }

}  // namespace
}  // namespace pmusim::pebs

// SPDX-License-Identifier: MIT
// Registers beyond the general ones in adaptive and architectural records (SDM vol. 3, adaptive PEBS and
// architectural PEBS; xstate bits are XSAVE component numbers).
#include <gtest/gtest.h>

#include "tests/pebs/pebs_machine.h"

namespace pmusim::vector_groups_test {
namespace {

using testing::PebsMachine;
using enum StateComponent;
constexpr u64 gp0 = 1;

/// Qword q of a component holds component * 0x1000 + q.
ExtendedState numbered(u64 components) {
  ExtendedState state;
  for (const unsigned n : set_bits(components)) {
    const auto c = static_cast<StateComponent>(n);
    for (std::size_t q = 0; q < ExtendedState::size_of(c); ++q)
      if (c != sse || q != ExtendedState::mxcsr_qword) state.write(c, q, {n * 0x1000 + q});
  }
  return state;
}

/// A part that offers every group, with a counter that asks for `groups`.
struct ArchMachine : PebsMachine {
  explicit ArchMachine(u64 groups, u32 fragment_bytes = 0) : PebsMachine(model(fragment_bytes)) {
    write(msr::V6_GP0_CFG_C, pebs::cfg_c::ENABLE | groups);
    overflow(gp0, 100);
  }
  static CpuModel model(u32 fragment_bytes) {
    CpuModel m = testing::model_with_format(PebsFeatures::architectural);
    m.pebs.arch_capabilities |= static_cast<u32>(pebs::cfg_c::VECTORS >> 32);
    m.policies.pebs_fragment_bytes = fragment_bytes;
    return m;
  }
  u64 qword(u64 offset) const { return record_at<le64>(offset); }
};

TEST(VectorGroups, AnAdaptiveRecordHasXmmAfterTheInstruction) {
  PebsMachine m(4);
  m.extended = numbered(state_bit(sse));
  m.write(msr::PEBS_DATA_CFG, pebs::data_cfg::XMM);
  m.write(msr::PEBS_ENABLE, gp0);
  m.write(msr::PERFEVTSEL0, 0xC0 | msr::evtsel::ADAPTIVE);
  m.overflow(gp0, 100);
  ASSERT_TRUE(m.retire(120, gp0));
  EXPECT_EQ(m.record_at<pebs::BasicGroup>(0).size, 288u);
  EXPECT_EQ(m.record_at<le64>(32), 0x1000u) << "XMM0, low";
  EXPECT_EQ(m.record_at<le64>(32 + 16 * 15 + 8), 0x101Fu) << "XMM15, high";
}

TEST(VectorGroups, StandInRecordOrderBehindOneHeader) {
  ArchMachine m(pebs::cfg_c::VECTORS);
  m.extended = numbered(vector_state | state_bit(apx));
  ASSERT_TRUE(m.retire(120, gp0));
  EXPECT_EQ(m.qword(0) & pebs::header::SIZE, 64 + 2256u);
  EXPECT_EQ(m.qword(64), vector_state | state_bit(apx));
  EXPECT_EQ(m.qword(80), 0x1000u) << "XMM";
  EXPECT_EQ(m.qword(80 + 256), 0x2000u) << "YMMH";
  EXPECT_EQ(m.qword(80 + 512), 0x13000u) << "EGPR";
  EXPECT_EQ(m.qword(80 + 640), 0x5000u) << "OPMASK";
  EXPECT_EQ(m.qword(80 + 704), 0x6000u) << "ZMMH";
  EXPECT_EQ(m.qword(80 + 1216), 0x7000u) << "HI16_ZMM";
  EXPECT_EQ(m.qword(80 + 2232), 0x707Fu) << "the record's last qword";
}

TEST(VectorGroups, OfEveryChoiceTakeTheirBytesAndOneHeader) {
  struct Group {
    u64 bit, bytes, state;
  };
  constexpr Group groups[] = {{bit(49), 256, bit(1)}, {bit(50), 256, bit(2)}, {bit(51), 128, bit(19)},
                              {bit(53), 64, bit(5)},  {bit(54), 512, bit(6)}, {bit(55), 1024, bit(7)}};
  for (unsigned choice = 0; choice < 64; ++choice) {
    u64 enabled = 0, bytes = choice != 0 ? 16 : 0, states = 0;
    for (unsigned n = 0; n < 6; ++n) {
      if ((choice & bit(n)) == 0) continue;
      enabled |= groups[n].bit;
      bytes += groups[n].bytes;
      states |= groups[n].state;
    }
    ArchMachine m(enabled);
    m.extended = numbered(vector_state | state_bit(apx));
    ASSERT_TRUE(m.retire(120, gp0));
    EXPECT_EQ(m.qword(0) & pebs::header::SIZE, 64 + bytes) << choice;
    EXPECT_EQ(m.qword(0) & pebs::cfg_c::VECTORS, enabled);
    if (choice != 0) {
      EXPECT_EQ(m.qword(64), states) << choice;
    }
  }
}

TEST(VectorGroups, AGroupInItsInitialStateIsPresentButNotValid) {
  ArchMachine m(pebs::cfg_c::XMM | pebs::cfg_c::YMMH | pebs::cfg_c::OPMASK);
  m.extended = numbered(state_bits(sse, opmask));
  ASSERT_TRUE(m.retire(120, gp0));
  EXPECT_EQ(m.qword(64), state_bits(sse, opmask));
  EXPECT_EQ(m.qword(80 + 256), 0u) << "YMMH";
  EXPECT_EQ(m.qword(80 + 512), 0x5000u) << "OPMASK keeps its place";
}

TEST(VectorGroups, AreNotValidWhereNothingIsKnown) {
  ArchMachine m(pebs::cfg_c::VECTORS);
  ASSERT_TRUE(m.retire(120, gp0));
  EXPECT_EQ(m.qword(64), 0u);
  EXPECT_EQ(m.qword(80), 0u);
}

TEST(VectorGroups, TheGeneralGroupHasTheShadowStackPointer) {
  ArchMachine m(pebs::cfg_c::GPRS);
  ExtendedState state;
  state.write(cet_u, 1, {0x7000});
  m.extended = state;
  ASSERT_TRUE(m.retire(120, gp0));
  EXPECT_EQ(m.record_at<pebs::ArchGprs>(64).ssp, 0x7000u);
}

TEST(VectorGroups, OfAFragmentedRecordHaveAHeaderInEachFragment) {
  ArchMachine m(pebs::cfg_c::ZMMH | pebs::cfg_c::HI16_ZMM | pebs::cfg_c::AUX, 128);
  m.extended = numbered(state_bits(zmm_hi256, hi16_zmm));
  ASSERT_TRUE(m.retire(120, gp0));
  u64 at = 0, stored = 0;
  while (true) {
    const u64 word = m.qword(at);
    const pebs::ArchLayout layout = pebs::arch_layout(word, 32);
    if (layout.vectors != 0) {
      stored |= m.qword(at + layout.vectors);
      EXPECT_EQ(m.qword(at + layout.vectors + 16), (word & pebs::cfg_c::ZMMH) != 0 ? 0x6000u : 0x7000u);
    }
    if ((word & pebs::header::CONTINUED) == 0) break;
    at += word & pebs::header::SIZE;
  }
  EXPECT_GT(at, 0u);
  EXPECT_EQ(stored, state_bits(zmm_hi256, hi16_zmm));
}

}  // namespace
}  // namespace pmusim::vector_groups_test

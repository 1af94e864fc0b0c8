// SPDX-License-Identifier: MIT
// What a part's branch records have, and what their registers say.
#include <gtest/gtest.h>

#include <vector>

#include "driver/intel/lbr/registers.h"
#include "fake_bus.h"

namespace pmusim::driver {
namespace {

Enumeration legacy(Microarchitecture core, unsigned format) {
  Enumeration cpu;
  cpu.microarchitecture = core;
  cpu.lbr_format = format;
  cpu.lbr_entries = 8;
  return cpu;
}

// Linux, intel_pmu_lbr_init_knl: the flag is there although PERF_CAPABILITIES say a format without it.
TEST(LbrTraits, KnightsLandingHasAMispredictFlagDespiteItsFormat) {
  EXPECT_TRUE(lbr_traits(legacy(Microarchitecture::knights_landing, 1)).flags_in_from);
  EXPECT_FALSE(lbr_traits(legacy(Microarchitecture::silvermont, 1)).flags_in_from);
}

TEST(LbrTraits, ArchRecordsKnowMispredictsWhereCpuidSaysSo) {  // CPUID.1CH:ECX[0]
  Enumeration cpu;
  cpu.arch_lbr = true;
  cpu.lbr_entries = 32;
  EXPECT_FALSE(lbr_traits(cpu).mispredict_known);
  cpu.lbr_leaf.ecx = 1;
  EXPECT_TRUE(lbr_traits(cpu).mispredict_known);
}

/// Registers of four records of which the top takes two bits, with something in them.
class FourRecords : public FakeBus {
 public:
  static constexpr u32 from = 0x100, to = 0x200;
  FourRecords() {
    for (u32 n = 0; n < 4; ++n) msrs[from + n] = msrs[to + n] = 0x123456 + n;
    msrs[msr::LBR_TOS] = 2;
    msrs[msr::LBR_SELECT] = 0x1FF;
  }
  Fault wrmsr(u32 address, u64 value) override {
    return address == msr::LBR_TOS && value > 3 ? Fault::gp : FakeBus::wrmsr(address, value);
  }
};

// Linux: check_msr.
TEST(LbrProbe, FindsRegistersUsableWhateverTheyHoldAndLeavesThemSo) {
  FourRecords bus;
  const auto before = bus.msrs;
  LbrTraits traits{.entries = 4};
  traits.from_base = FourRecords::from;
  traits.to_base = FourRecords::to;
  traits.filter = BranchFilterMap::haswell;
  probe_lbr(bus, traits);
  EXPECT_EQ(traits.entries, 4u);
  EXPECT_EQ(traits.filter, BranchFilterMap::haswell);
  EXPECT_EQ(bus.msrs, before);
}

TEST(LbrRecords, OfFormat0HaveTheTargetAboveTheSource) {
  const LbrTraits traits = lbr_traits(legacy(Microarchitecture::core2, 0));
  const LbrEntry record{0x9000'0003'8000'0001, 0, 0};
  std::vector<perf::BranchEntry> out(3);
  decode_registers(traits, std::span(&record, 1), InfoRead::read, out);
  ASSERT_EQ(out.size(), 1u) << "what was there before is gone";
  EXPECT_EQ(out[0].from, 0x8000'0001u);
  EXPECT_EQ(out[0].to, 0x9000'0003u);
}

}  // namespace
}  // namespace pmusim::driver

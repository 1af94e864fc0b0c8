// SPDX-License-Identifier: MIT
// What a part's branch records have, and what their registers say.
#include <gtest/gtest.h>

#include <vector>

#include "driver/lbr/registers.h"

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
TEST(LbrTraits, KnightsLandingHasTheMispredictFlagThatItsFormatDoesNotTell) {
  EXPECT_TRUE(lbr_traits(legacy(Microarchitecture::knights_landing, 1)).flags_in_from);
  EXPECT_FALSE(lbr_traits(legacy(Microarchitecture::silvermont, 1)).flags_in_from);
}

TEST(LbrTraits, ArchitecturalRecordsKnowMispredictsWhereCpuidSaysSo) {  // CPUID.1CH:ECX[0]
  Enumeration cpu;
  cpu.arch_lbr = true;
  cpu.lbr_entries = 32;
  EXPECT_FALSE(lbr_traits(cpu).mispredict_known);
  cpu.lbr_leaf.ecx = 1;
  EXPECT_TRUE(lbr_traits(cpu).mispredict_known);
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

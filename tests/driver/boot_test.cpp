// SPDX-License-Identifier: MIT
// What a driver makes of the CPU that it finds: registers that firmware left, and what CPUID leaves out.
#include <gtest/gtest.h>

#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

// SDM vol. 3, architectural LBRs: the depth is what software writes, one of those of CPUID.1CH:EAX.
TEST(Boot, SetsTheDeepestStackOfArchitecturalLbrs) {
  EXPECT_EQ(Rig(lion_cove()).bus.msrs[msr::ARCH_LBR_DEPTH], 32u);
}

TEST(Boot, StopsLegacyLbrsThatFirmwareLeftRunning) {
  FakeBus bus = skylake();
  constexpr u64 btf = bit(1);
  bus.msrs[msr::DEBUGCTL] = msr::debugctl::LBR | btf;
  EXPECT_EQ(Rig(bus).bus.msrs[msr::DEBUGCTL] & (msr::debugctl::LBR | btf), btf);
}

/// Panther Lake's E core without some of CPUID.23H:4H's EBX.
FakeBus darkmont_without(u32 capabilities) {
  FakeBus bus = darkmont();
  bus.leaves[{0x23, 4}].ebx &= ~capabilities;
  return bus;
}
bool is_large(FakeBus bus, u64 sample_type) {
  Rig rig(std::move(bus));
  perf::Attr attr = Rig::precise(0x00C0, 1);
  attr.sample_type = sample_type;
  if ((sample_type & perf::sample::BRANCH_STACK) != 0)
    attr.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  perf::Event& event = rig.make(attr);
  EXPECT_EQ(rig.open(event), 0) << rig.refusal;
  return has_flag(event, pebs_flag::LARGE);
}

// SDM vol. 3, architectural PEBS: EBX of leaf 23H, subleaf 4 is the upper half of what CFG_C takes.
TEST(Boot, RecordsHoldWhatCpuidSaysTheyCan) {
  constexpr u32 counters = 7u << 4, lbr = 3u << 8, gprs = 1u << 29, aux = 1u << 30;
  using namespace perf::sample;
  for (const auto& [type, capability] :
       {std::pair{BRANCH_STACK, lbr}, std::pair{READ, counters}, std::pair{DATA_SRC, aux}}) {
    EXPECT_TRUE(is_large(darkmont(), IP | type)) << capability;
    EXPECT_FALSE(is_large(darkmont_without(capability), IP | type)) << capability;
    EXPECT_TRUE(is_large(darkmont_without(gprs), IP | type)) << capability;
  }
}

}  // namespace
}  // namespace pmusim::driver

// SPDX-License-Identifier: MIT
// What the driver makes of an attribute (Linux: x86_pmu_hw_config, intel_pmu_hw_config).
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "driver_fixture.h"

namespace pmusim::driver {
namespace {

using perf::Attr;
using perf::Event;
using perf::HardwareId;

constexpr u64 OS_USR_INT = msr::evtsel::OS | msr::evtsel::USR | msr::evtsel::INT;

Attr with_type(perf::EventType type, u64 config) {
  Attr attr = Rig::raw(config);
  attr.type = static_cast<u32>(type);
  return attr;
}
constexpr u64 cache_event(u64 id, u64 operation, u64 result) { return id | operation << 8 | result << 16; }

// --- configs ----------------------------------------------------------------------------------------------

TEST(EventSetup, ExcludedPrivilegesAreNotCounted) {
  Rig rig(skylake());
  Attr attr = Rig::raw(0xC4);
  attr.exclude_kernel = 1;
  EXPECT_EQ(data_of(rig.opened(attr)).config, 0xC4 | msr::evtsel::USR | msr::evtsel::INT);
  attr.exclude_user = 1;
  EXPECT_EQ(data_of(rig.opened(attr)).config, 0xC4 | msr::evtsel::INT);
}

TEST(EventSetup, GenericEventsHaveTheCoresEncodings) {
  Rig rig(sandy_bridge());
  EXPECT_EQ(data_of(rig.opened(Rig::generic(HardwareId::cache_misses))).config, 0x412E | OS_USR_INT);
  EXPECT_EQ(data_of(rig.opened(Rig::generic(HardwareId::stalled_cycles_frontend))).config,
            0x010E | msr::evtsel::INV | u64{1} << 24 | OS_USR_INT);
}

TEST(EventSetup, AGenericEventMayNameItsPmuInTheUpperHalf) {
  Rig rig(skylake());
  Attr attr = Rig::generic(HardwareId::branch_instructions);
  attr.config |= u64{4} << 32;
  EXPECT_EQ(rig.error_of(attr), 0);
}

TEST(EventSetup, AGenericEventThatTheCoreLacksDoesNotExist) {
  Rig rig(haswell());
  EXPECT_EQ(rig.error_of(Rig::generic(HardwareId::stalled_cycles_frontend)), ENOENT);
  EXPECT_EQ(rig.refusal, "config: this CPU has no generic event 7");
}

TEST(EventSetup, AnUnknownGenericEventIsInvalid) {
  Rig rig(skylake());
  EXPECT_EQ(rig.error_of(with_type(perf::EventType::hardware, 10)), EINVAL);
  EXPECT_EQ(rig.refusal, "config: there is no generic hardware event 10");
}

TEST(EventSetup, CacheEventsHaveTheCoresEncodings) {
  Rig rig(skylake());
  Event& loads = rig.opened(with_type(perf::EventType::hw_cache, cache_event(0, 0, 0)));
  EXPECT_EQ(data_of(loads).config, 0x81D0 | OS_USR_INT);
}

TEST(EventSetup, LastLevelCacheEventsBringTheirOffcoreValue) {
  Rig rig(skylake());
  Event& loads = rig.opened(with_type(perf::EventType::hw_cache, cache_event(2, 0, 1)));
  EXPECT_EQ(data_of(loads).extra_register, msr::OFFCORE_RSP_0);
  EXPECT_NE(data_of(loads).extra_config, 0u);
}

TEST(EventSetup, CacheEventsThatThePartLacksOrThatMakeNoSense) {
  Rig rig(skylake());
  EXPECT_EQ(rig.error_of(with_type(perf::EventType::hw_cache, cache_event(0, 1, 1))), ENOENT);
  EXPECT_EQ(rig.refusal, "config: this CPU does not count cache event 0x10100");
  EXPECT_EQ(rig.error_of(with_type(perf::EventType::hw_cache, cache_event(1, 1, 0))), EINVAL);
  EXPECT_EQ(rig.refusal, "config: cache event 0x101 makes no sense");
  EXPECT_EQ(rig.error_of(with_type(perf::EventType::hw_cache, cache_event(9, 0, 0))), EINVAL);
  EXPECT_EQ(rig.refusal, "config: 0x9 names no cache event");
}

TEST(EventSetup, OtherTypesAreNotOurs) {
  Rig rig(skylake());
  EXPECT_EQ(rig.error_of(with_type(perf::EventType::tracepoint, 1)), ENOENT);
  EXPECT_EQ(rig.refusal, "type: 2 is not an event of this PMU");
}

TEST(EventSetup, CountingForTheSiblingThreadNeedsHardwareThatCan) {
  Rig nehalem_rig(nehalem());
  EXPECT_EQ(nehalem_rig.error_of(Rig::raw(0xC4 | msr::evtsel::ANY)), 0);
  Rig rig(ice_lake());
  EXPECT_EQ(rig.error_of(Rig::raw(0xC4 | msr::evtsel::ANY)), EINVAL);
  EXPECT_EQ(rig.refusal, "config: this CPU cannot count for the sibling thread (bit 21)");
}

// --- precise events ---------------------------------------------------------------------------------------

TEST(PreciseSetup, CyclesAreAnInvertedCountBeforeIceLake) {
  constexpr u64 inverted = msr::evtsel::INV | u64{16} << 24;
  const auto config = [](FakeBus cpu, unsigned level) {
    Rig rig(std::move(cpu));
    Event& event = rig.make(Rig::precise(0x3C, level));
    EXPECT_EQ(rig.open(event), 0) << rig.refusal;
    return data_of(event).config & ~OS_USR_INT;
  };
  EXPECT_EQ(config(nehalem(), 1), 0x00C0 | inverted);
  EXPECT_EQ(config(sandy_bridge(), 1), 0x01C2 | inverted);
  EXPECT_EQ(config(haswell(), 2), 0x01C2 | inverted);
  EXPECT_EQ(config(haswell(), 3), 0x01C0 | inverted);
  EXPECT_EQ(config(skylake(), 2), 0x00C0 | inverted);
  EXPECT_EQ(config(skylake(), 3), 0x01C0 | inverted);
  EXPECT_EQ(config(ice_lake(), 2), 0x003Cu);
}

TEST(PreciseSetup, ALevelThatThePmuLacksIsRefused) {
  Rig rig(nehalem());
  EXPECT_EQ(rig.error_of(Rig::precise(0xC4, 3)), EOPNOTSUPP);
  EXPECT_EQ(rig.refusal, "precise_ip is larger than this CPU's PEBS can do");
}

TEST(PreciseSetup, CountingEventsHaveNothingToBePreciseAbout) {
  Rig rig(skylake());
  EXPECT_EQ(rig.error_of(Rig::precise(0xC4, 1, 0)), EINVAL);
  EXPECT_EQ(rig.refusal, "precise_ip needs a sampling event: sample_period is 0");
}

TEST(PreciseSetup, EarlyFormatsNeedTheBranchStackForExactAddresses) {
  Rig rig(sandy_bridge());
  Attr attr = Rig::precise(0xC4, 2);
  attr.exclude_kernel = 1;
  EXPECT_EQ(rig.opened(attr).attr.branch_sample_type, perf::branch::ANY | perf::branch::USER);
  attr.sample_type = perf::sample::BRANCH_STACK;
  attr.branch_sample_type = perf::branch::ANY_CALL | perf::branch::USER;
  EXPECT_EQ(rig.error_of(attr), EOPNOTSUPP);
  EXPECT_EQ(rig.refusal,
            "branch_sample_type: precise_ip 2 needs any branch at the event's own privilege levels");
}

TEST(PreciseSetup, VectorRegistersNeedPebsBeforeSimdSampling) {
  Rig rig(ice_lake(), {.kernel = perf::Kernel::v7_1});
  Attr attr = Rig::raw(0xC4, 1000);
  attr.sample_regs_intr = bit(32);
  EXPECT_EQ(rig.error_of(attr), EINVAL);
  EXPECT_EQ(rig.refusal, "sample_regs_intr: vector registers need precise_ip");
  attr = Rig::precise(0xC4, 1);
  attr.sample_regs_user = bit(32);
  EXPECT_EQ(rig.error_of(attr), EINVAL);
  EXPECT_EQ(rig.refusal, "sample_regs_user: vector registers are known at the interrupt only");
}

// --- periods ----------------------------------------------------------------------------------------------

TEST(PeriodSetup, CountingEventsUseTheLongestPeriod) {
  Rig wide(skylake()), narrow(nehalem());
  EXPECT_EQ(wide.opened(Rig::raw(0xC4)).hw.sample_period, bit(47) - 1);
  EXPECT_EQ(narrow.opened(Rig::raw(0xC4)).hw.sample_period, bit(31) - 1);
}

TEST(PeriodSetup, APeriodBelowTheCoresMinimumIsRefused) {
  Rig rig(nehalem());
  EXPECT_EQ(rig.error_of(Rig::raw(0xC4, 31)), EINVAL);
  EXPECT_EQ(rig.refusal, "sample_period: 31 is below this event's minimum of 32");
  EXPECT_EQ(rig.error_of(Rig::raw(0xC4, 32)), 0);
}

TEST(PeriodSetup, ACheckpointedEventSamplesRarelyOrNotAtAll) {
  Rig rig(haswell());
  EXPECT_EQ(rig.error_of(Rig::raw(0xC4 | msr::evtsel::IN_TXCP, 100'000)), EOPNOTSUPP);
  EXPECT_EQ(rig.refusal, "sample_period: an aborted transaction could take the overflow back (in_tx_cp)");
  EXPECT_EQ(rig.error_of(Rig::raw(0xC4 | msr::evtsel::IN_TXCP)), 0);
}

TEST(PeriodSetup, AFrequencyStartsFromTheExpectedEventRate) {
  Rig rig(skylake());
  const auto start = [&](Attr attr) {
    attr.freq = 1;
    attr.sample_period = 4000;
    return rig.opened(attr).hw.sample_period;
  };
  EXPECT_EQ(start(Rig::generic(HardwareId::cpu_cycles)), 124'999u);
  EXPECT_EQ(start(Rig::generic(HardwareId::branch_misses)), 31'249u);
  EXPECT_EQ(start(Rig::generic(HardwareId::cache_misses)), 6'249u);
  EXPECT_EQ(start(with_type(perf::EventType::hw_cache, cache_event(0, 0, 0))), 6'249u);
  EXPECT_EQ(start(Rig::raw(0xC4)), 63u);  // the attribute decides, not the encoding
}

TEST(PeriodSetup,
     AFrequencyThatIsNoDivisorOfTheFactorIsRoundedUp) {  // 64 * 4000 = 7 * 36571 + 3, = 3 * 85333 + 1
  Rig rig(skylake());
  for (const auto& [frequency, start] : {std::pair<u64, u64>{7, 36571}, {3, 85333}}) {
    Attr attr = Rig::raw(0xC4, frequency);
    attr.freq = 1;
    EXPECT_EQ(rig.opened(attr).hw.sample_period, start);
  }
}

TEST(PeriodSetup, AFrequencyAboveTheFactorStartsAtOne) {
  Rig rig(skylake());
  Attr attr = Rig::raw(0xC4, 1'000'000);
  attr.freq = 1;
  EXPECT_EQ(rig.opened(attr).hw.sample_period, 1u);
}

// --- capabilities -----------------------------------------------------------------------------------------

TEST(Capabilities, SayWhatThePmuCan) {
  Rig rig(ice_lake(), {.kernel = perf::Kernel::v7_1});  // before SIMD sampling, which asks XSAVES, not PEBS
  const perf::PmuCapabilities capabilities = rig.driver.capabilities();
  EXPECT_EQ(capabilities.name, "cpu");
  EXPECT_TRUE(capabilities.interrupts);
  EXPECT_TRUE(capabilities.extended_registers);
  EXPECT_EQ(capabilities.branch_entries, 32u);
  EXPECT_EQ(capabilities.max_precise, 3u);
}

TEST(Capabilities, PebsWritesToMemoryNeverIntoATraceOfThePart) {  // Tremont could do both, not at once
  FakeBus bus = part(6, 0x86);
  bus.msrs[msr::PERF_CAPABILITIES] |= bit(16);
  EXPECT_FALSE(Rig(bus).driver.capabilities().auxiliary_output);
}

TEST(Capabilities, HybridPmusHaveTheirCoreTypesName) {
  Rig p(lion_cove()), e(skymont());
  EXPECT_EQ(p.driver.capabilities().name, "cpu_core");
  EXPECT_EQ(e.driver.capabilities().name, "cpu_atom");
}

// CPUID.1AH:EAX[23:0] is 2 on the Crestmonts of Arrow Lake-H, and 3 on its Skymonts.
TEST(Capabilities, ArrowLakeHsSmallestCoresHaveAPmuOfTheirOwn) {
  const auto atom = [](u32 native_model_id) {
    FakeBus bus = e_core_of(6, 0xC5);
    bus.leaves[{0x1A, 0}].eax = 0x20u << 24 | native_model_id;
    return bus;
  };
  Rig small(atom(3)), smallest(atom(2));
  EXPECT_EQ(small.driver.capabilities().name, "cpu_atom");
  EXPECT_EQ(small.driver.enumeration().microarchitecture, Microarchitecture::skymont);
  EXPECT_EQ(smallest.driver.capabilities().name, "cpu_lowpower");
  EXPECT_EQ(smallest.driver.enumeration().microarchitecture, Microarchitecture::crestmont);
}

TEST(Capabilities, WithoutAReachableApicThereAreNoInterrupts) {
  FakeBus bus = skylake();
  bus.msrs.erase(msr::X2APIC_LVTPC);
  Rig rig(bus);
  EXPECT_FALSE(rig.driver.capabilities().interrupts);
  EXPECT_EQ(rig.driver.statistics().faults.count, 0u);
}

TEST(Capabilities, AnApicInMemoryTakesTheEntryOfThePmi) {
  FakeBus bus = skylake();
  bus.msrs.erase(msr::X2APIC_LVTPC);
  ASSERT_TRUE(bus.map_memory(msr::lvtpc::XAPIC_ADDRESS, 4));
  Rig rig(bus);
  EXPECT_TRUE(rig.driver.capabilities().interrupts);
  std::array<std::byte, 4> entry{};
  ASSERT_EQ(rig.bus.read_memory(msr::lvtpc::XAPIC_ADDRESS, entry), Fault::none);
  EXPECT_EQ(entry, (std::array{std::byte{0}, std::byte{4}, std::byte{0}, std::byte{0}}));  // NMI, not masked
}

}  // namespace
}  // namespace pmusim::driver

// SPDX-License-Identifier: MIT
#include "driver/intel/enumeration.h"

#include <gtest/gtest.h>

#include "driver/intel/linux_view.h"
#include "fake_cpus.h"

namespace pmusim::driver {
namespace {

constexpr u32 hypervisor_bit = 1u << 31;

TEST(Enumeration, ReadsFamilyModelAndCountersOfSkylake) {
  FakeBus bus = skylake();
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.family, 6u);
  EXPECT_EQ(e.model, 0x5Eu);
  EXPECT_EQ(e.stepping, 3u);
  EXPECT_EQ(e.microarchitecture, Microarchitecture::skylake);
  EXPECT_EQ(e.perfmon_version, 4u);
  EXPECT_EQ(e.counters, 0x7'0000'000Fu);
  EXPECT_EQ(e.counter_width, 48u);
  EXPECT_EQ(e.arch_events, 0x7Fu);
  EXPECT_EQ(e.pebs_format, 3u);
  EXPECT_EQ(e.pebs_counters, 0xFu);
  EXPECT_EQ(e.lbr_format, 5u);
  EXPECT_EQ(e.lbr_entries, 32u);
  EXPECT_FALSE(e.atom);
}

TEST(Enumeration, AdaptivePebsOfIceLakeCoversEveryCounter) {
  FakeBus bus = ice_lake();
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.counters, 0xF'0000'00FFu);
  EXPECT_TRUE(e.pebs_baseline);
  EXPECT_EQ(e.pebs_counters, e.counters);
  EXPECT_TRUE(e.extended_pebs());
}

TEST(Enumeration, LeafAhEbxNamesEventsThatAreMissing) {
  FakeBus bus = product(0x106A5, {0x07300403, 0x40, 0, 0x603}, 0x11C3);
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.microarchitecture, Microarchitecture::nehalem);
  EXPECT_EQ(e.arch_events, 0x3Fu);
}

TEST(Enumeration, EarlyCore2ClaimsNoFixedCounterButHasThree) {
  FakeBus bus = product(0x006F6, {0x07280202, 0, 0, 0}, 0x10C2);
  EXPECT_EQ(enumerate(bus).counters >> 32, 0x7u);
}

TEST(Enumeration, UnderAHypervisorTheFixedCountIsTakenAtItsWord) {
  FakeBus bus = product(0x506E3, {0x07300404, 0, 0, 0x600}, 0x33C5);
  bus.leaves[{1, 0}].ecx |= hypervisor_bit;
  const Enumeration e = enumerate(bus);
  EXPECT_TRUE(e.hypervisor);
  EXPECT_EQ(e.counters >> 32, 0u);
}

TEST(Enumeration, FromVersion5OnOnlyTheBitmapCountsFixedCounters) {  // the odd Rocket Lake sample
  FakeBus bus = product(0xA0671, {0x08300805, 0, 0, 0x604}, 0x0F4C5);
  EXPECT_EQ(enumerate(bus).counters >> 32, 0u);
}

TEST(Enumeration, AlderLakesCoresAreKnownByTypeDespiteSharedLeaves) {
  FakeBus bus = product(0x90672, {0x07300605, 0, 7, 0x8603}, 0xF480);
  bus.leaves[{7, 0}].edx = cpuid_hybrid | cpuid_arch_lbr;
  bus.leaves[{0x1C, 0}] = {0x4000000B, 7, 7, 0};
  bus.leaves[{0x1A, 0}].eax = 0x40000001;
  const Enumeration p = enumerate(bus);
  EXPECT_EQ(p.microarchitecture, Microarchitecture::golden_cove);
  EXPECT_EQ(p.counters, 0xF'0000'00FFu);
  EXPECT_NE(p.perf_capabilities & msr::perf_cap::PERF_METRICS, 0u);
  bus.leaves[{0x1A, 0}].eax = 0x20000001;
  bus.msrs[msr::PERF_CAPABILITIES] = 0x7480;
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.microarchitecture, Microarchitecture::gracemont);
  EXPECT_TRUE(e.atom);
  EXPECT_EQ(e.counters, 0x7'0000'003Fu);
  EXPECT_EQ(e.perf_capabilities & msr::perf_cap::PERF_METRICS, 0u);
}

// Intel's erratum RPL018: bit 15 reads as 0 on the larger cores of Raptor Lake and Meteor Lake. Linux 7.3
// sets it there and takes the register for true elsewhere.
TEST(Enumeration, SinceLinux7_3MetricsOfAHybridAreWhatItsCoreSays) {
  const auto has_metrics = [](u32 signature, u64 capabilities, perf::Kernel kernel) {
    FakeBus bus = product(signature, {0x07300605, 0, 7, 0x8603}, capabilities);
    bus.leaves[{7, 0}].edx = cpuid_hybrid;
    bus.leaves[{0x1A, 0}].eax = 0x40000001;
    return (enumerate(bus, kernel).perf_capabilities & msr::perf_cap::PERF_METRICS) != 0;
  };
  constexpr u32 alder_lake = 0x90672, raptor_lake = 0xB0671, meteor_lake = 0xA06A4;
  EXPECT_TRUE(has_metrics(alder_lake, 0x7480, perf::Kernel::v7_1));
  EXPECT_FALSE(has_metrics(alder_lake, 0x7480, perf::Kernel::v7_3));
  EXPECT_TRUE(has_metrics(alder_lake, 0xF480, perf::Kernel::v7_3));
  EXPECT_TRUE(has_metrics(raptor_lake, 0x7480, perf::Kernel::v7_3));
  EXPECT_TRUE(has_metrics(meteor_lake, 0x7480, perf::Kernel::v7_3));
}

TEST(Enumeration, Leaf23HOverridesLeafAhAndListsAutoCounterReload) {
  FakeBus bus = skymont();
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.microarchitecture, Microarchitecture::skymont);
  EXPECT_EQ(e.counters, 0x77'0000'00FFu);
  EXPECT_EQ(e.arch_events, 0x1F7Fu);
  EXPECT_EQ(e.acr_reloadable, 0x3'0000'00FCu);
  EXPECT_EQ(e.acr_cause, 0x3'0000'00FCu);
  EXPECT_EQ(e.perfmon_ext, 3u);
}

TEST(Enumeration, SubleavesThatAreNotAnnouncedAreNotRead) {  // Redwood Cove: EAX = B, no ACR
  FakeBus bus = lunar_lake(0x40);
  bus.leaves[{0x23, 0}] = {0xB, 3, 0, 0};
  bus.leaves[{0x23, 1}] = {0x3FF, 0xF, 0, 0};
  bus.leaves[{0x23, 2}] = {0xFC, 3, 0xFC, 3};
  bus.leaves[{0x23, 3}] = {0x1DFF, 0, 0, 0};
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.microarchitecture, Microarchitecture::lion_cove);
  EXPECT_EQ(e.gp_mask(), 0x3FFu);
  EXPECT_EQ(e.acr_cause, 0u);
}

TEST(Enumeration, ArrowLakesLowPowerCoresAreCrestmonts) {
  FakeBus bus = skymont();
  bus.leaves[{0x1A, 0}].eax = 0x20000002;
  EXPECT_EQ(enumerate(bus).microarchitecture, Microarchitecture::crestmont);
}

TEST(Enumeration, ArchitecturalPebsComesFromLeaf23H) {  // Darkmont of Panther Lake
  FakeBus bus = skymont();
  bus.leaves[{1, 0}].eax = 0xC06C2;
  bus.leaves[{0x23, 0}].eax = 0x3F;
  bus.leaves[{0x23, 4}] = {0, 0x60060338, 0, 0};
  bus.leaves[{0x23, 5}] = {0xFF, 3, 0x77, 1};
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.microarchitecture, Microarchitecture::darkmont);
  EXPECT_TRUE(e.arch_pebs());
  EXPECT_EQ(e.pebs_counters, 0x77'0000'00FFu);
  EXPECT_EQ(e.pebs_distribution, 0x1'0000'0003u);
  EXPECT_EQ(e.pebs_arch_capabilities, 0x60060338'00000000u);
}

TEST(Enumeration, ArchitecturalLbrDepthIsTheHighestSupportedOne) {
  FakeBus bus = skymont();
  const Enumeration e = enumerate(bus);
  EXPECT_TRUE(e.arch_lbr);
  EXPECT_EQ(e.lbr_entries, 32u);
  bus.leaves[{0x1C, 0}].eax = 0x01;
  EXPECT_EQ(enumerate(bus).lbr_entries, 8u);
}

TEST(Enumeration, PerfmonVersion2HasPebsAndVersion1HasNone) {  // Penryn
  FakeBus penryn = product(0x1067A, {0x07280202, 0, 0, 0x503}, 0x10C2);
  EXPECT_EQ(enumerate(penryn).pebs_format, 0u);
  penryn.leaves[{0xA, 0}].eax = 0x07280201;
  EXPECT_EQ(enumerate(penryn).pebs_format, Enumeration::no_pebs);
}

TEST(Enumeration, MiscEnableBit12TakesPebsAway) {
  FakeBus bus = skylake();
  bus.msrs[msr::MISC_ENABLE] |= bit(12);
  EXPECT_EQ(enumerate(bus).pebs_format, Enumeration::no_pebs);
}

TEST(Enumeration, WithoutPdcmThereIsNoCapabilitiesRegisterToRead) {
  FakeBus bus = skylake();
  bus.leaves[{1, 0}].ecx &= ~cpuid_pdcm;
  EXPECT_EQ(enumerate(bus).perf_capabilities, 0u);
}

TEST(Enumeration, LeavesBeyondTheHighestAreNotAsked) {
  FakeBus bus = skymont();
  bus.leaves[{0, 0}].eax = 0x1C;
  EXPECT_EQ(enumerate(bus).acr_cause, 0u);
}

TEST(Enumeration, FamilyIsTheSumOfItsTwoFields) {  // Nova Lake: family 15 + 3
  FakeBus bus = skymont();
  bus.leaves[{1, 0}].eax = 0x00300F10;
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.family, 18u);
  EXPECT_EQ(e.model, 1u);
  EXPECT_EQ(e.microarchitecture, Microarchitecture::arctic_wolf);
}

TEST(Enumeration, AnUnknownProductIsStillEnumerated) {
  FakeBus bus = product(0x006FF0F0, {0x08300805, 0, 0xF, 0x8604}, 0x0F4C5);
  const Enumeration e = enumerate(bus);
  EXPECT_EQ(e.microarchitecture, Microarchitecture::unknown);
  EXPECT_EQ(e.counters, 0xF'0000'00FFu);
}

TEST(Enumeration, SinceLunarLakeTheMsrSaysWhichCoreHasMetrics) {
  FakeBus bus = lion_cove();
  EXPECT_NE(enumerate(bus).perf_capabilities & msr::perf_cap::PERF_METRICS, 0u);
  bus.msrs[msr::PERF_CAPABILITIES] &= ~msr::perf_cap::PERF_METRICS;
  EXPECT_EQ(enumerate(bus).perf_capabilities & msr::perf_cap::PERF_METRICS, 0u);
}

// --- what older releases make of a CPU

using perf::Kernel;

TEST(LinuxView, PantherLakeAndArrowLakeHAreUnknownToOlderReleases) {
  FakeBus panther_lake_e = darkmont();
  const Enumeration unknown = enumerate(panther_lake_e, Kernel::v6_15);
  EXPECT_EQ(unknown.microarchitecture, Microarchitecture::unknown);
  EXPECT_EQ(unknown.lbr_entries, 32u);  // CPUID lists it, whoever the CPU is
  EXPECT_TRUE(unknown.arch_lbr);
  EXPECT_EQ(enumerate(panther_lake_e, Kernel::v6_16).microarchitecture, Microarchitecture::darkmont);
  EXPECT_NE(enumerate(panther_lake_e, Kernel::v6_16).lbr_entries, 0u);
  FakeBus arrow_lake_h = lion_cove();
  arrow_lake_h.leaves[{1, 0}].eax = 0xC0652;
  EXPECT_EQ(enumerate(arrow_lake_h, Kernel::v6_12).microarchitecture, Microarchitecture::unknown);
  EXPECT_EQ(enumerate(arrow_lake_h, Kernel::v6_14).microarchitecture, Microarchitecture::lion_cove);
}

TEST(LinuxView, CannonLakeIsASkylakeSinceLinux6_14) {
  FakeBus bus = part(6, 0x66);
  EXPECT_FALSE(enumerate(bus, Kernel::v6_12).has_tables());
  EXPECT_EQ(enumerate(bus, Kernel::v6_14).microarchitecture, Microarchitecture::skylake);
}

TEST(LinuxView, AutoCounterReloadCameWithLinux6_16) {
  FakeBus bus = skymont();
  const Enumeration cpu = enumerate(bus);
  EXPECT_EQ(as_seen_by(Kernel::v6_15, cpu).acr_cause, 0u);
  EXPECT_EQ(as_seen_by(Kernel::v6_16, cpu).acr_cause, cpu.acr_cause);
  EXPECT_NE(cpu.acr_cause, 0u);
}

TEST(LinuxView, BeforeLinux6_16Leaf23HDescribesHybridsOnly) {
  FakeBus bus = lion_cove();
  bus.leaves[{7, 0}].edx |= cpuid_hybrid;
  const u64 of_hybrid = enumerate(bus, Kernel::v6_12).counters;
  bus.leaves[{7, 0}].edx &= ~cpuid_hybrid;
  EXPECT_EQ(enumerate(bus, Kernel::v6_16).counters, of_hybrid);
  EXPECT_NE(enumerate(bus, Kernel::v6_12).counters, of_hybrid);
}

TEST(LinuxView, ArchitecturalPebsCameWithLinux6_19) {
  FakeBus bus = darkmont();
  const Enumeration cpu = enumerate(bus);
  EXPECT_EQ(as_seen_by(Kernel::v6_16, cpu).pebs_format, Enumeration::no_pebs);
  EXPECT_TRUE(as_seen_by(Kernel::v6_19, cpu).arch_pebs());
}

TEST(LinuxView, CountersInRecordsCameWithLinux6_15) {
  Enumeration cpu;
  cpu.pebs_format = 6;
  EXPECT_EQ(as_seen_by(Kernel::v6_14, cpu).pebs_format, 5u);
  EXPECT_EQ(as_seen_by(Kernel::v6_15, cpu).pebs_format, 6u);
}

// Linux, intel_ds_init: the debug store needs its area with 64-bit fields too (CPUID.1:ECX[2]).
TEST(Enumeration, ADebugStoreWithout64BitFieldsIsNone) {
  FakeBus bus = skylake();
  bus.leaves[{1, 0}].edx |= 1u << 21;
  bus.leaves[{1, 0}].ecx |= 1u << 2;
  EXPECT_TRUE(enumerate(bus).has_ds);
  bus.leaves[{1, 0}].ecx &= ~(1u << 2);
  EXPECT_FALSE(enumerate(bus).has_ds);
}

}  // namespace
}  // namespace pmusim::driver

// SPDX-License-Identifier: MIT
// The registers of a guest, as KVM's selftests and kvm-unit-tests assert them.
#include <gmock/gmock.h>

#include "virtual_machine.h"

namespace pmusim::vpmu::guest_registers_test {
namespace {

class GuestRegisters : public testing::TestWithParam<GuestKind> {
 protected:
  GuestRegisters() : host(without_skid("icelake")), made(host.guest(GetParam()).value()), guest(*made) {}
  Fault write(u32 address, u64 value) { return guest.wrmsr(address, value); }
  u64 read(u32 address) { return guest.rdmsr(address).value(); }

  Host host;
  std::unique_ptr<GuestPmu> made;
  GuestPmu& guest;
};
INSTANTIATE_TEST_SUITE_P(Kinds, GuestRegisters, testing::Values(GuestKind::emulated, GuestKind::mediated),
                         [](const auto& each) {
                           return each.param == GuestKind::emulated ? "Emulated" : "Mediated";
                         });

TEST_P(GuestRegisters, AreThoseOfVersion2) {
  const CpuidResult perfmon = guest.cpuid(0xA, 0);
  EXPECT_EQ(perfmon.eax & 0xFFFFFF, 0x300802u);      // 48 bits, eight counters
  EXPECT_EQ(perfmon.edx, 3u | 48u << 5 | 1u << 15);  // three fixed ones, no AnyThread
  const CpuidResult features = guest.cpuid(1, 0);
  EXPECT_EQ(features.ecx & (bit(31) | bit(15) | bit(4) | bit(2)), bit(31) | bit(15));  // hypervisor, PDCM
  EXPECT_EQ(features.edx & bit(21), 0u);                                               // DS
  EXPECT_EQ(read(msr::PERF_CAPABILITIES), msr::perf_cap::FW_WRITE);
  EXPECT_EQ(read(msr::MISC_ENABLE) & (bit(7) | bit(11) | bit(12)), bit(7) | bit(11) | bit(12));
}

TEST_P(GuestRegisters, ResetAsTheManualSays) {
  EXPECT_EQ(read(msr::PERF_GLOBAL_CTRL), 0xFFu);
  for (const u32 address : {msr::FIXED_CTR_CTRL, msr::PERF_GLOBAL_STATUS, msr::PERFEVTSEL0, msr::PMC0})
    EXPECT_EQ(read(address), 0u) << address;
}

TEST_P(GuestRegisters, ThatAreNotThereFault) {
  for (const u32 address :
       {msr::PMC0 + 8, msr::PERFEVTSEL0 + 8, msr::FIXED_CTR0 + 3, msr::A_PMC0 + 8,
        msr::PERF_GLOBAL_STATUS_SET, msr::PERF_GLOBAL_INUSE, msr::PEBS_ENABLE, msr::DS_AREA,
        msr::PERF_METRICS, msr::LBR_TOS, msr::LBR_SELECT, msr::OFFCORE_RSP_0}) {
    EXPECT_FALSE(guest.rdmsr(address).ok()) << std::hex << address;
    EXPECT_EQ(write(address, 0), Fault::gp) << std::hex << address;
  }
}

TEST_P(GuestRegisters, FaultAtReservedBits) {
  struct Row {
    u32 address;
    u64 value;
  };
  for (const Row& row :
       {Row{msr::PERFEVTSEL0, bit(21)}, Row{msr::PERFEVTSEL0, bit(32)}, Row{msr::FIXED_CTR_CTRL, bit(2)},
        Row{msr::FIXED_CTR_CTRL, bit(12)}, Row{msr::PERF_GLOBAL_CTRL, bit(8)},
        Row{msr::PERF_GLOBAL_CTRL, bit(35)}, Row{msr::PERF_GLOBAL_STATUS, 0},
        Row{msr::PERF_GLOBAL_STATUS_RESET, bit(8)}, Row{msr::PERF_CAPABILITIES, msr::perf_cap::FW_WRITE},
        Row{msr::A_PMC0, bit(48)}, Row{msr::DEBUGCTL, msr::debugctl::FREEZE_PERFMON_ON_PMI},
        Row{msr::DEBUGCTL, msr::debugctl::BTS}})
    EXPECT_EQ(write(row.address, row.value), Fault::gp) << std::hex << row.address << " = " << row.value;
  EXPECT_EQ(write(msr::DEBUGCTL, msr::debugctl::LBR | msr::debugctl::BTF), Fault::none);
  EXPECT_EQ(read(msr::DEBUGCTL), 0u);
  EXPECT_EQ(write(msr::MISC_ENABLE, read(msr::MISC_ENABLE) ^ bit(12)), Fault::gp);
}

TEST_P(GuestRegisters, HaveTwoNamesForACounter) {
  constexpr u64 value = 0xFF01'2345'6789;
  EXPECT_EQ(write(msr::PMC0 + 2, value), Fault::none);
  EXPECT_EQ(guest.rdpmc(2).value(), 0x2345'6789u);
  EXPECT_EQ(write(msr::PMC0 + 2, 0x8000'0001), Fault::none);
  EXPECT_EQ(read(msr::A_PMC0 + 2), 0xFFFF'8000'0001u);
  EXPECT_EQ(write(msr::A_PMC0 + 2, value), Fault::none);
  EXPECT_EQ(guest.rdpmc(2).value(), value);
  EXPECT_EQ(read(msr::PMC0 + 2), value);
}

TEST_P(GuestRegisters, RdpmcOfNoCounterFaults) {
  for (const u32 ecx : {8u, 64u, 0x40000003u, 0x20000000u, 0x80000000u})
    EXPECT_FALSE(guest.rdpmc(ecx).ok()) << std::hex << ecx;
}

TEST_P(GuestRegisters, MemoryAndTimeAreTheGuests) {
  EXPECT_TRUE(guest.map_memory(0x1000, 16));
  EXPECT_TRUE(host.pmu.map_memory(0x1000, 16));
  EXPECT_EQ(guest.write_memory(0x1000, std::as_bytes(std::span("guest", 5))), Fault::none);
  EXPECT_EQ(host.pmu.memory(0x1000, 1)[0], std::byte{0});
  host.run(10);
  EXPECT_EQ(guest.rdtsc(), host.pmu.tsc());
  EXPECT_EQ(read(msr::TSC), host.pmu.tsc());
}

}  // namespace
}  // namespace pmusim::vpmu::guest_registers_test

// SPDX-License-Identifier: MIT
// Events that count what a second register asks for.
#include <array>

#include "tests/pmu/guest.h"

namespace pmusim {
namespace {

using test::Guest;

Retirement with_signals(u64 cycle, SignalSet signals) {
  signals.add(Signal::instruction);
  return {.ip = 0x401000, .next_ip = 0x401004, .cycle = cycle, .signals = signals, .length = 4};
}

TEST(EventFilter, FrontEndRetiredCountsWhatItsRegisterAsksFor) {
  Guest guest("skylake");
  guest.write(msr::PERFEVTSEL0, 0x4301C6);
  guest.write(msr::PEBS_FRONTEND, 0x12);  // L1I misses
  guest.pmu.retire(with_signals(1, {Signal::l1i_miss}));
  guest.pmu.retire(with_signals(2, {Signal::itlb_miss}));
  EXPECT_EQ(guest.read(msr::PMC0), 1u);
  guest.write(msr::PEBS_FRONTEND, 0x14);  // ITLB misses
  guest.pmu.retire(with_signals(3, {Signal::itlb_miss}));
  guest.pmu.retire(with_signals(4, {Signal::itlb_miss}));
  EXPECT_EQ(guest.read(msr::PMC0), 1u + 2u);
}

TEST(EventFilter, FrontEndLatencyCountsAfterEnoughEmptyCycles) {
  Guest guest("skylake");  // retires 4 a cycle
  guest.write(msr::PERFEVTSEL0, 0x4301C6);
  guest.write(msr::PEBS_FRONTEND, 0x400806);  // LATENCY_GE_8
  for (const u32 slots : {0u, 31u, 32u, 100u}) {
    Retirement r = with_signals(slots + 1, {});
    r.quantities[static_cast<unsigned>(Quantity::slots_fetch_latency)] = slots;
    guest.pmu.retire(r);
  }
  EXPECT_EQ(guest.read(msr::PMC0), 2u);
}

TEST(EventFilter, LoadLatencyCountsLoadsAboveTheThreshold) {
  Guest guest("skylake");
  guest.write(msr::PERFEVTSEL0, 0x4301CD);
  guest.write(msr::PEBS_LD_LAT_THRESHOLD, 30);
  for (const u32 cycles : {5u, 30u, 31u, 200u}) {
    const std::array access{MemoryAccess{.address = 0x1000, .bytes = 8, .latency_cycles = cycles}};
    Retirement r = with_signals(cycles, {Signal::load, Signal::load_latency});
    r.memory = access;
    guest.pmu.retire(r);
  }
  EXPECT_EQ(guest.read(msr::PMC0), 2u);
}

TEST(EventFilter, EachOffCoreResponseEventHasItsOwnRegister) {
  const CpuModel model = Guest::with_short_skid("icelake");
  const EventDefinition* reads = nullptr;
  for (const EventDefinition& row : model.events)
    if (row.event == 0xB7 && row.umask == 1 && row.rule.all.has(Signal::load_l3_miss)) reads = &row;
  ASSERT_NE(reads, nullptr);
  Guest guest(model);
  guest.write(msr::PERFEVTSEL0, 0x4301B7);
  guest.write(msr::OFFCORE_RSP_1, reads->extra);
  guest.pmu.retire(with_signals(1, {Signal::load, Signal::load_l3_miss}));
  EXPECT_EQ(guest.read(msr::PMC0), 0u) << "event 01B7 looks at OFFCORE_RSP_0";
  guest.write(msr::OFFCORE_RSP_0, reads->extra);
  guest.pmu.retire(with_signals(2, {Signal::load, Signal::load_l3_miss}));
  EXPECT_EQ(guest.read(msr::PMC0), 1u);
}

TEST(EventFilter, GlobalInUseShowsPebs) {
  Guest guest("skylake");
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_INUSE), 0u);
  guest.write(msr::PEBS_ENABLE, 1);
  EXPECT_EQ(guest.read(msr::PERF_GLOBAL_INUSE), bit(63));
}

}  // namespace
}  // namespace pmusim

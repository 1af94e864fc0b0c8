// SPDX-License-Identifier: MIT
// What AMD's driver makes of attributes: event selects by the tables that Linux has, literal, and errors.
#include <gtest/gtest.h>

#include <cerrno>

#include "amd_machine.h"

namespace pmusim::driver::amd_test::amd_events_test {
namespace {

using perf::HardwareId;

constexpr u32 first_select = 0xC0010200;
constexpr u64 all_levels = 0x530000;  // EN, INT, OS, USR

/// What PERF_CTL0 has for an attribute; 0 for one that is refused.
u64 select_of(std::string_view model, const perf::Attr& attr) {
  AmdMachine machine(model);
  perf::Event& event = machine.make(attr);
  if (machine.open(event) != 0 || !machine.schedule(event)) return 0;
  return machine.msr(first_select);
}

int error_of(std::string_view model, const perf::Attr& attr) { return AmdMachine(model).error_of(attr); }

perf::Attr cache(u64 cache, u64 operation, u64 result) {
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::hw_cache);
  attr.config = cache | operation << 8 | result << 16;
  return attr;
}

struct GenericCase {
  HardwareId id;
  u64 zen1, zen2, zen3, zen4, zen5;  // event and umask; 0: ENOENT
};
constexpr GenericCase generic_cases[] = {
    {HardwareId::cpu_cycles, 0x76, 0x76, 0x76, 0x76, 0x76},
    {HardwareId::instructions, 0xC0, 0xC0, 0xC0, 0xC0, 0xC0},
    {HardwareId::cache_references, 0xFF60, 0xFF60, 0xFF60, 0xFF60, 0xFF60},
    {HardwareId::cache_misses, 0x0964, 0x0964, 0x0964, 0x0964, 0x0964},
    {HardwareId::branch_instructions, 0xC2, 0xC2, 0xC2, 0xC2, 0xC2},
    {HardwareId::branch_misses, 0xC3, 0xC3, 0xC3, 0xC3, 0xC3},
    {HardwareId::bus_cycles, 0, 0, 0, 0, 0},
    {HardwareId::stalled_cycles_frontend, 0x0287, 0xA9, 0xA9, 0xA9, 0xA9},
    {HardwareId::stalled_cycles_backend, 0x0187, 0, 0, 0, 0},
    {HardwareId::ref_cycles, 0, 0, 0, 0x1'0000'0120, 0x1'0000'0120},
};

void expect_generic(std::string_view model, HardwareId id, u64 config) {
  if (config == 0)
    EXPECT_EQ(error_of(model, hardware(id)), ENOENT) << model << " " << static_cast<u64>(id);
  else
    EXPECT_EQ(select_of(model, hardware(id)), config | all_levels) << model << " " << static_cast<u64>(id);
}

TEST(AmdEvents, GenericEventsAreThoseOfTheCore) {
  for (const GenericCase& c : generic_cases) {
    expect_generic("naples", c.id, c.zen1);
    expect_generic("rome", c.id, c.zen2);
    expect_generic("milan", c.id, c.zen3);
    expect_generic("genoa", c.id, c.zen4);
    expect_generic("turin", c.id, c.zen5);
  }
  EXPECT_EQ(error_of("genoa", hardware(static_cast<HardwareId>(10))), EINVAL);
}

TEST(AmdEvents, CacheEventsAreAlikeOnEveryZen) {
  constexpr u64 l1d = 0, l1i = 1, ll = 2, dtlb = 3, itlb = 4, bpu = 5, node = 6;
  constexpr u64 read = 0, write = 1, prefetch = 2, access = 0, miss = 1;
  struct Case {
    u64 cache, operation, result, config;
  };
  constexpr Case counted[] = {
      {l1d, read, access, 0x0040}, {l1d, read, miss, 0xC860},    {l1d, prefetch, access, 0xFF5A},
      {l1i, read, access, 0x0080}, {l1i, read, miss, 0x0081},    {dtlb, read, access, 0xFF45},
      {dtlb, read, miss, 0xF045},  {itlb, read, access, 0x0084}, {itlb, read, miss, 0xFF85},
      {bpu, read, access, 0x00C2}, {bpu, read, miss, 0x00C3},
  };
  struct Refused {
    u64 cache, operation, result;
    int error;
  };
  constexpr Refused refused[] = {
      {ll, read, access, ENOENT},       {ll, write, miss, ENOENT},        {node, read, miss, ENOENT},
      {l1d, write, access, ENOENT},     {dtlb, write, miss, ENOENT},      {l1d, prefetch, miss, ENOENT},
      {l1i, prefetch, access, ENOENT},  {dtlb, prefetch, access, ENOENT}, {l1i, write, access, EINVAL},
      {itlb, write, access, EINVAL},    {bpu, write, miss, EINVAL},       {node, write, access, EINVAL},
      {itlb, prefetch, access, EINVAL}, {bpu, prefetch, access, EINVAL},  {node, prefetch, miss, EINVAL},
      {7, read, access, EINVAL},
  };
  for (const char* const model : {"naples", "rome", "milan", "genoa", "turin"}) {
    for (const Case& c : counted)
      EXPECT_EQ(select_of(model, cache(c.cache, c.operation, c.result)), c.config | all_levels)
          << model << std::hex << " " << c.config;
    for (const Refused& r : refused)
      EXPECT_EQ(error_of(model, cache(r.cache, r.operation, r.result)), r.error)
          << model << " " << r.cache << " " << r.operation << " " << r.result;
  }
}

TEST(AmdEvents, RawConfigsKeepWhatTheFormatsName) {
  EXPECT_EQ(select_of("genoa", raw(0x1'0000'01C9)), 0x1'0053'01C9u);
  EXPECT_EQ(select_of("genoa", raw(~u64{0})), 0xF'FFD7'FFFFu);  // and EN, INT, levels
  EXPECT_EQ(select_of("naples", raw(0xFFF0'0000'0000'0000 | 0x0284'00C0)), 0x02D7'00C0u);
}

TEST(AmdEvents, LevelsAndGuestsAreFilters) {
  perf::Attr attr = hardware(HardwareId::cpu_cycles);
  attr.exclude_kernel = 1;
  EXPECT_EQ(select_of("genoa", attr), 0x510076u);
  attr.exclude_guest = 1;  // as perf asks by itself: HostOnly would count nothing without a hypervisor
  EXPECT_EQ(select_of("genoa", attr), 0x510076u);
  attr.exclude_guest = 0;
  attr.exclude_host = 1;
  EXPECT_EQ(select_of("genoa", attr), 0x100'0051'0076u);
  attr.exclude_guest = 1;
  EXPECT_EQ(select_of("genoa", attr), 0x500076u);
}

TEST(AmdEvents, CountersAreProgrammedTheSameToCount) {
  EXPECT_EQ(select_of("rome", hardware(HardwareId::instructions)), 0x5300C0u);
  EXPECT_EQ(select_of("rome", hardware(HardwareId::instructions, 1000)), 0x5300C0u);
}

TEST(AmdEvents, NothingIsPreciseWithoutIbs) {
  for (unsigned precise = 1; precise <= 3; ++precise) {
    perf::Attr attr = hardware(HardwareId::cpu_cycles, 1000);
    attr.precise_ip = precise & 3;
    EXPECT_EQ(error_of("milan", attr), EOPNOTSUPP) << precise;
    EXPECT_EQ(error_of("turin", attr), EOPNOTSUPP) << precise;
  }
}

TEST(AmdEvents, AGroupHasAsManyAsThereAreCounters) {
  AmdMachine machine("genoa");
  perf::Event& leader = machine.opened(hardware(HardwareId::cpu_cycles));
  for (int i = 1; i < 6; ++i) EXPECT_EQ(machine.error_of(hardware(HardwareId::cpu_cycles), &leader), 0) << i;
  EXPECT_TRUE(machine.schedule(leader));
  EXPECT_EQ(machine.error_of(hardware(HardwareId::cpu_cycles), &leader), EINVAL);
  perf::Event& another = machine.opened(hardware(HardwareId::cpu_cycles));
  EXPECT_FALSE(machine.schedule(another));
  machine.unschedule(leader);
  EXPECT_TRUE(machine.schedule(another));
}

TEST(AmdEvents, EventsOfOtherPmusAreNotThere) {
  perf::Attr attr;
  attr.type = 9;
  EXPECT_EQ(error_of("genoa", attr), ENOENT);
}

TEST(AmdEvents, XmmRegistersAreNotSampled) {
  perf::Attr attr = hardware(HardwareId::cpu_cycles, 1000);
  attr.sample_type = perf::sample::REGS_INTR;
  attr.sample_regs_intr = bit(32);
  EXPECT_EQ(error_of("genoa", attr), EINVAL);
}

TEST(AmdEvents, TheDriverOfACpuIsItsVendors) {
  Pmu amd(*find_cpu_model("genoa")), intel(*find_cpu_model("skylake"));
  EXPECT_NE(dynamic_cast<amd::Driver*>(create_driver(amd).get()), nullptr);
  EXPECT_NE(dynamic_cast<IntelDriver*>(create_driver(intel).get()), nullptr);
}

TEST(AmdEvents, EveryModelHasTablesAndFaultsNowhere) {
  for (const CpuModel& model : cpu_models(Vendor::amd)) {
    AmdMachine machine(model.name);
    perf::Event& event = machine.opened(hardware(HardwareId::instructions));
    ASSERT_TRUE(machine.schedule(event)) << model.name;
    for (int i = 0; i < 7; ++i) machine.instruction();
    machine.unschedule(event);
    EXPECT_EQ(event.count, 7u) << model.name;
    EXPECT_TRUE(machine.driver.knows_core()) << model.name;
    EXPECT_EQ(machine.driver.statistics().faults.count, 0u)
        << model.name << " " << describe(machine.driver.statistics().faults);
  }
}

}  // namespace
}  // namespace pmusim::driver::amd_test::amd_events_test

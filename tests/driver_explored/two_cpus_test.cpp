// SPDX-License-Identifier: MIT
// Two CPUs, one of which has a PMI at every place of what both drivers do: an event that moves from one to
// the other keeps its count, and a register that the threads of a core have once is one event's at a time.
#include <gtest/gtest.h>

#include "buggy_cpu.h"
#include "driver/amd/driver.h"
#include "other_cpu.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/msr.h"
#include "pmusim/cpu/setup.h"
#include "rig.h"

namespace pmusim::driver::two_cpus_test {
namespace {

using perf::HardwareId;

template <class CoreDriver>
void migrate(explore::Cpu& cpu, const Bug& bug, bool by_pebs) {
  using Direction = perf::PmuDriver::SwitchDirection;
  constexpr perf::TaskId task{1, 1};
  ExploredRig<CoreDriver, BuggyCpu> here(cpu, BuggyCpu(cpu, bug));
  Pmu other(cpu.pmu().model());
  OtherCpu<CoreDriver> there(other, {});
  perf::Event& branches = here.sampling(HardwareId::branch_instructions, [&](perf::Attr& attr) {
    if (by_pebs) attr.precise_ip = 2;
  });
  cpu.open();
  here.driver.context_switch(Direction::in, task);
  here.schedule(branches);
  here.unschedule(branches);
  here.driver.context_switch(Direction::out, task);
  there.driver.context_switch(Direction::in, task);
  there.schedule(branches);
  there.branch(2 * explored_period);
  there.unschedule(branches);
  there.driver.context_switch(Direction::out, task);
  here.driver.context_switch(Direction::in, task);
  here.schedule(branches);
  here.unschedule(branches);
  here.driver.context_switch(Direction::out, task);
  cpu.close();
  here.check(there.overflows.count == 2, "the other CPU's periods are not as long");
  here.check(there.samples.count == 2, "the other CPU lost a sample");
  here.overflows.count += there.overflows.count;
  here.samples.count += there.samples.count;
  here.check_end();
}

template <class CoreDriver>
auto migration(const Bug& bug, bool by_pebs) {
  return explore::explore(
      Pmu(*find_cpu_model(bug.model)), [&](explore::Cpu& cpu) { migrate<CoreDriver>(cpu, bug, by_pebs); },
      one_late);
}

/// Earlier cores than these write a record one event late, so that periods are not alike.
struct Moved {
  const char* model;
  bool by_pebs;
};
class MigrationUnderEveryPmi : public testing::TestWithParam<Moved> {};
INSTANTIATE_TEST_SUITE_P(Models, MigrationUnderEveryPmi,
                         testing::Values(Moved{"nehalem", false}, Moved{"skylake", false},
                                         Moved{"icelake", false}, Moved{"sapphirerapids", true},
                                         Moved{"lioncove", true}, Moved{"darkmont", true},
                                         Moved{"rome", false}, Moved{"genoa", false}));

auto migration_on(const Bug& bug, bool by_pebs) {
  return find_cpu_model(bug.model)->vendor == Vendor::intel ? migration<IntelDriver>(bug, by_pebs)
                                                            : migration<amd::Driver>(bug, by_pebs);
}

TEST_P(MigrationUnderEveryPmi, LosesNoCount) {
  const auto report = migration_on({.model = GetParam().model}, GetParam().by_pebs);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->finding) << explore::text_of(*report->finding);
  EXPECT_TRUE(report->complete);
  EXPECT_GT(report->runs, 100u);
}

// What a counter has come to before its late interrupt is left behind where the event leaves.
u64 not_read(const Access& a) {
  const bool has_wrapped = is_intel_counter(a.address) && a.value < bit(47);
  return has_wrapped && !a.in_handler ? bit(48) - explored_period : a.value;
}
// The drain where the event leaves takes the buffer for empty.
u64 not_drained(const Access& a) {
  return a.address == msr::PEBS_INDEX && !a.in_handler ? a.value & ~pebs::index_register::WRITE_OFFSET
                                                       : a.value;
}

struct PlantedBug {
  Bug bug;
  bool by_pebs = false;
};
constexpr PlantedBug planted[] = {
    {{.name = "a_counter_stays_enabled", .model = "skylake", .on_write = left_enabled}},
    {{.name = "an_overflow_is_not_read", .model = "skylake", .on_read = not_read}},
    {{.name = "records_are_left_behind", .model = "darkmont", .on_read = not_drained}, true},
    {{.name = "drains_read_another_counter", .model = "lioncove", .on_rdpmc = neighbour}, true},
    {{.name = "amd_a_counter_stays_enabled", .model = "genoa", .on_write = left_enabled}},
    {{.name = "amd_another_counter_is_read", .model = "rome", .on_rdpmc = neighbour}},
};

class PlantedInMigration : public testing::TestWithParam<PlantedBug> {};
INSTANTIATE_TEST_SUITE_P(Bugs, PlantedInMigration, testing::ValuesIn(planted),
                         [](const auto& of) { return std::string(of.param.bug.name); });

TEST_P(PlantedInMigration, IsFound) {
  const auto report = migration_on(GetParam().bug, GetParam().by_pebs);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->finding);
}

/// Whose event has the register: both threads' in turn.
void share_register(explore::Cpu& cpu, Pmu& sibling, CoreResources* core) {
  constexpr u64 offcore_response = 0x01B7, of_first = 0x0101, of_second = 0x0102;
  DriverOptions first{.core = core}, second = first.for_cpu(1);
  second.thread = 1;
  ExploredRig<IntelDriver> here(cpu, std::ref(cpu), first);
  OtherCpu<IntelDriver> there(sibling, second);
  perf::Attr attr;
  attr.type = static_cast<u32>(perf::EventType::raw);
  attr.config = offcore_response;
  attr.sample_period = explored_period;
  attr.config1 = of_first;
  perf::Event& mine = here.opened(attr);
  attr.config1 = of_second;
  perf::Event& its = there.opened(attr);
  here.check(here.refusal.empty() && there.refusal.empty(), here.refusal + there.refusal);
  const auto holds = [&](u64 value) {
    here.check(cpu.pmu().rdmsr(msr::OFFCORE_RSP_0).value_or(0) == value,
               "an event runs with the other's filter");
  };
  cpu.open();
  const bool has = here.schedule(mine);
  here.check(has, "the first does not fit");
  here.check(!there.schedule(its), "both have one register");
  holds(of_first);
  here.unschedule(mine);
  here.check(there.schedule(its), "what has been given back is not free");
  here.check(!here.schedule(mine), "both have one register");
  holds(of_second);
  there.unschedule(its);
  here.check(here.schedule(mine), "what has been given back is not free");
  holds(of_first);
  here.unschedule(mine);
  cpu.close();
  here.events.push_back(&mine);
  here.check_end();
}

enum class Known : u8 { both, neither };

auto sharing(Known known) {
  Machine machine(parse_machine("nehalem:1c2t").value());
  const Pmu sibling = machine.cpu(1);
  return explore::explore_on(
      machine.cpu(0),
      [&](explore::Cpu& cpu) {
        machine.cpu(1) = sibling;
        CoreResources core;
        share_register(cpu, machine.cpu(1), known == Known::both ? &core : nullptr);
      },
      one_late);
}

// Westmere has a second register, so that both events fit.
TEST(ThreadsOfACoreUnderEveryPmi, ShareARegister) {
  const auto report = sharing(Known::both);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->finding) << explore::text_of(*report->finding);
  EXPECT_TRUE(report->complete);
  EXPECT_GT(report->runs, 100u);
}

TEST(PlantedInThreadsOfACore, IsFound) {
  const auto report = sharing(Known::neither);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_TRUE(report->finding);
}

}  // namespace
}  // namespace pmusim::driver::two_cpus_test

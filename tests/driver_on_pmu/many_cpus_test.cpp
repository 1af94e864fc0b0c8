// SPDX-License-Identifier: MIT
// Several CPUs under one perf core: tasks that migrate, events of tasks and of CPUs, side band of each CPU.
// Numbers in the names are those of the scenarios of a list that was worked out by hand; unless it says
// otherwise, 1 ms is 3,000,000 cycles and instructions.
#include <gmock/gmock.h>

#include <array>
#include <optional>
#include <utility>

#include "several_cpus.h"
#include "tests/support/dice.h"

namespace pmusim::many_cpus_test {
namespace {

using driver::CutRecord;
using driver::records_in;
using driver::records_of;
using driver::SeveralCpus;
using perf::Attr;
using perf::Event;
using perf::HardwareId;
using perf::RecordType;
using perf::SoftwareId;
using testing::ElementsAre;
using Reason = perf::PerfCpu::SwitchReason;

constexpr u64 ms = SeveralCpus::ms;
constexpr u32 A = 100, B = 201, B_PROCESS = 200;

std::vector<CpuModel> ice_lakes(std::size_t n) {
  return std::vector<CpuModel>(n, *find_cpu_model("icelake"));
}

Attr generic(HardwareId id) {
  Attr attr;
  attr.config = static_cast<u64>(id);
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
  return attr;
}
Attr instructions() { return generic(HardwareId::instructions); }
Attr software(SoftwareId id) {
  Attr attr = generic(HardwareId::cpu_cycles);
  attr.type = static_cast<u32>(perf::EventType::software);
  attr.config = static_cast<u64>(id);
  attr.exclude_kernel = 0;
  return attr;
}
Attr sampling(u64 period, u64 sample_type) {
  Attr attr = instructions();
  attr.sample_period = period;
  attr.sample_type = sample_type;
  return attr;
}

/// A and B, and who of them is where.
class ManyCpus : public testing::Test {
 protected:
  explicit ManyCpus(const std::vector<CpuModel>& models = ice_lakes(4), perf::CoreOptions options = {})
      : s(models, options) {
    s.core().task_started(A, A, "a");
    s.core().task_started(B_PROCESS, B, "b");
  }
  /// 1 ms on CPU 0, blocked for half, 2 ms on CPU 2.
  void a_migrates() {
    s.switch_to(0, A);
    s.until(1 * ms);
    s.switch_to(0, 0);
    s.until(3 * ms / 2);
    s.switch_to(2, A);
    s.until(7 * ms / 2);
  }
  std::vector<Event*> on_each_cpu(const Attr& attr, i32 pid) {
    std::vector<Event*> events;
    for (u32 n = 0; n < s.machine.cpus(); ++n) events.push_back(&s.open(attr, pid, static_cast<i32>(n)));
    return events;
  }

  SeveralCpus s;
};

TEST_F(ManyCpus, Scenario2ATasksEventGoesWithIt) {
  Event& count = s.open(instructions(), A, -1);
  Event& migrations = s.open(software(SoftwareId::cpu_migrations), A, -1);
  Event& switches = s.open(software(SoftwareId::context_switches), A, -1);
  Attr in_user = software(SoftwareId::context_switches);
  in_user.exclude_kernel = 1;
  Event& user_switches = s.open(in_user, A, -1);
  a_migrates();
  EXPECT_THAT(s.read(count), ElementsAre(9'000'000, 3 * ms, 3 * ms));
  EXPECT_EQ(s.read(migrations)[0], 1u);
  EXPECT_EQ(s.read(switches)[0], 1u);
  EXPECT_EQ(s.read(user_switches)[0], 0u);
  s.switch_to(2, 0);
  s.switch_to(2, A);
  EXPECT_EQ(s.read(migrations)[0], 1u);  // it is where it has been
}

TEST_F(ManyCpus, Scenario3ATasksEventOfOneCpuRunsThereAlone) {
  Event& count = s.open(instructions(), A, 0);
  a_migrates();
  EXPECT_THAT(s.read(count), ElementsAre(3'000'000, 3 * ms, 1 * ms));
}

TEST_F(ManyCpus, Scenario4ATasksEventsOfAllCpusAddUp) {
  const std::vector<Event*> events = on_each_cpu(instructions(), A);
  a_migrates();
  EXPECT_THAT(s.read(*events[0]), ElementsAre(3'000'000, 3 * ms, 1 * ms));
  EXPECT_THAT(s.read(*events[1]), ElementsAre(0, 3 * ms, 0));
  EXPECT_THAT(s.read(*events[2]), ElementsAre(6'000'000, 3 * ms, 2 * ms));
  EXPECT_THAT(s.read(*events[3]), ElementsAre(0, 3 * ms, 0));
}

TEST_F(ManyCpus, Scenario5CpusCountWhatRunsOnThem) {
  const auto count = on_each_cpu(instructions(), -1),
             cycles = on_each_cpu(generic(HardwareId::cpu_cycles), -1),
             unhalted = on_each_cpu(generic(HardwareId::ref_cycles), -1),
             clock = on_each_cpu(software(SoftwareId::cpu_clock), -1);
  s.switch_to(0, A);
  s.switch_to(1, B);
  s.until(1 * ms);
  s.switch_to(0, 0);
  s.until(2 * ms);
  s.switch_to(1, 0);
  s.until(4 * ms);
  for (u32 n = 0; n < 4; ++n) {
    const u64 ran = n == 0 ? 3'000'000 : n == 1 ? 6'000'000 : 0;
    const u64 unhalted_cycles =
        ran + (ran != 0 ? 1 : 0);  // the last instruction's cycle is its own to the end
    EXPECT_THAT(s.read(*count[n]), ElementsAre(ran, 4 * ms, 4 * ms)) << n;
    EXPECT_THAT(s.read(*cycles[n]), ElementsAre(unhalted_cycles, 4 * ms, 4 * ms)) << n;
    EXPECT_THAT(s.read(*unhalted[n]), ElementsAre(unhalted_cycles, 4 * ms, 4 * ms)) << n;
    EXPECT_THAT(s.read(*clock[n]), ElementsAre(4 * ms, 4 * ms, 4 * ms)) << n;
  }
}

/// Of four CPUs the last is offline.
class OneCpuOffline : public ManyCpus {
 protected:
  OneCpuOffline() : ManyCpus(ice_lakes(3), {.cpus = 4}) {}
};

TEST_F(OneCpuOffline, Scenario6OpeningChecksTheCpu) {
  EXPECT_EQ(s.error_of(instructions(), -1, 4), EINVAL);
  EXPECT_EQ(s.error_of(instructions(), A, 4), EINVAL);
  EXPECT_EQ(s.error_of(instructions(), -1, 3), ENODEV);
  EXPECT_EQ(s.error_of(instructions(), -1, -1), EINVAL);
  Event& anywhere = s.open(instructions(), A, -1);
  EXPECT_EQ(s.error_of(instructions(), A, 0, &anywhere), EINVAL);
  Event& never = s.open(instructions(), A, 3);
  s.switch_to(0, A);
  s.until(1 * ms);
  EXPECT_THAT(s.read(never), ElementsAre(0, 1 * ms, 0));
}

TEST_F(ManyCpus, Scenario7AnInheritedBufferNeedsACpu) {
  Attr inherited = sampling(1000, perf::sample::IP);
  inherited.inherit = 1;
  EXPECT_EQ(s.core().mmap(s.open(inherited, A, -1), 1).error().error_number, EINVAL);
  EXPECT_TRUE(s.core().mmap(s.open(inherited, A, 1), 1).ok());
  EXPECT_TRUE(s.core().mmap(s.open(sampling(1000, perf::sample::IP), A, -1), 1).ok());
}

TEST_F(ManyCpus, Scenario8OutputStaysOnItsCpu) {
  const auto error_of = [&](std::pair<i32, i32> from, std::pair<i32, i32> to) {
    Event& target = s.open(sampling(1000, perf::sample::IP), to.first, to.second);
    s.map(target, 1);
    Event& source = s.open(sampling(1000, perf::sample::IP), from.first, from.second);
    const auto outcome = s.core().set_output(source, &target);
    return outcome.ok() ? 0 : outcome.error().error_number;
  };
  EXPECT_EQ(error_of({A, 0}, {A, 1}), EINVAL);
  EXPECT_EQ(error_of({A, 0}, {B, 0}), 0);
  EXPECT_EQ(error_of({A, -1}, {B, -1}), EINVAL);
  EXPECT_EQ(error_of({A, -1}, {A, -1}), 0);
  EXPECT_EQ(error_of({-1, 0}, {A, 0}), 0);
}

/// A user without rights, whose buffers are within perf_event_mlock_kb of all CPUs.
class EightCpus : public ManyCpus {
 protected:
  static perf::CoreOptions without_rights() {
    perf::CoreOptions options;
    options.limits.perfmon_capable = options.limits.ipc_lock_capable = false;
    return options;
  }
  EightCpus() : ManyCpus(ice_lakes(8), without_rights()) {}
  /// What perf record opens: three events on each CPU, the first one's buffer for all of them. How many
  /// buffers there is memory for.
  unsigned record(std::size_t pages) {
    for (i32 n = 0; n < 8; ++n) {
      Attr attr = sampling(1000, perf::sample::IP | perf::sample::ID);
      attr.inherit = 1;
      Event& leader = s.open(attr, A, n);
      if (!s.core().mmap(leader, pages).ok()) return static_cast<unsigned>(n);
      for (int member = 0; member < 2; ++member)
        EXPECT_TRUE(s.core().set_output(s.open(attr, A, n, &leader), &leader).ok());
    }
    return 8;
  }
};

TEST_F(EightCpus, Scenario9BuffersOfAllCpusFitExactly) {
  EXPECT_EQ(record(128), 8u);
  EXPECT_EQ(s.core().events().size(), 24u);
  Event& more = s.open(sampling(1000, perf::sample::IP), A, 0);
  EXPECT_EQ(s.core().mmap(more, 1).error().error_number, EPERM);
}

TEST_F(EightCpus, Scenario9LargerBuffersDoNot) { EXPECT_LT(record(256), 8u); }

TEST_F(ManyCpus, Scenario10ExecEnablesTheEventsOfAllCpus) {
  Attr attr = instructions();
  attr.disabled = attr.enable_on_exec = 1;
  const auto events = on_each_cpu(attr, A);
  s.switch_to(3, A);
  s.until(ms / 2);
  s.switch_to(3, 0);
  s.switch_to(2, A);
  s.until(1 * ms);
  for (Event* event : events) EXPECT_THAT(s.read(*event), ElementsAre(0, 0, 0));
  s.core().exec(A, "child");
  s.until(2 * ms);
  for (u32 n = 0; n < 4; ++n)
    EXPECT_THAT(s.read(*events[n]), ElementsAre(n == 2 ? 3'000'000 : 0, 1 * ms, n == 2 ? 1 * ms : 0)) << n;
}

TEST_F(ManyCpus, Scenario11AnotherCpusEventIsEnabledAndRead) {
  Attr attr = instructions();
  attr.disabled = 1;
  Event& event = s.open(attr, -1, 3);
  s.switch_to(3, B);
  s.until(1 * ms);
  s.core().enable(event);
  s.until(3 * ms / 2);
  EXPECT_THAT(s.read(event), ElementsAre(1'500'000, ms / 2, ms / 2));
  s.until(2 * ms);
  s.core().disable(event);
  s.until(3 * ms);
  EXPECT_THAT(s.read(event), ElementsAre(3'000'000, 1 * ms, 1 * ms));
}

Attr switch_records() {
  Attr attr = software(SoftwareId::dummy);
  attr.context_switch = attr.sample_id_all = 1;
  attr.sample_type = perf::sample::TID | perf::sample::TIME | perf::sample::CPU;
  return attr;
}

struct SwitchSeen {
  u64 time = 0;
  u32 tid = 0, other_pid = 0, other_tid = 0;
  u16 misc = 0;
  bool operator==(const SwitchSeen&) const = default;
};
std::vector<SwitchSeen> switches_in(perf::RingBuffer& ring) {
  std::vector<SwitchSeen> seen;
  for (const CutRecord& r : records_of(ring, RecordType::switch_cpu_wide))
    seen.push_back(
        {r.trailer_time(), r.trailer_tid(), r.at<u32>(8), r.at<u32>(12), static_cast<u16>(r.header.misc)});
  return seen;
}

TEST_F(ManyCpus, Scenario12TheIdleTaskSwitchesToo) {
  s.switch_to(1, A);
  perf::RingBuffer& of_cpu = s.map(s.open(switch_records(), -1, 1));
  perf::RingBuffer& of_another = s.map(s.open(switch_records(), -1, 0));
  perf::RingBuffer& of_task = s.map(s.open(switch_records(), A, -1));
  s.until(1 * ms);
  s.switch_to(1, 0);
  s.until(14 * ms / 10);
  s.switch_to(1, B);
  EXPECT_THAT(switches_in(of_cpu),
              ElementsAre(SwitchSeen{1'000'000, A, 0, 0, 0x2000}, SwitchSeen{1'000'000, 0, A, A, 0},
                          SwitchSeen{1'400'000, 0, B_PROCESS, B, 0x6000},  // it could always go on
                          SwitchSeen{1'400'000, B, 0, 0, 0}));
  EXPECT_THAT(switches_in(of_another), ElementsAre());
  const auto own = records_of(of_task, RecordType::switch_);
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0].header.misc, 0x2000);
}

TEST_F(ManyCpus, SwitchesFromTheIdleTaskAreSwitchesOfItsCpu) {
  Event& switches = s.open(software(SoftwareId::context_switches), -1, 1);
  Event& of_task = s.open(software(SoftwareId::context_switches), A, -1);
  s.switch_to(1, A);
  s.switch_to(1, 0);
  s.switch_to(1, B);
  EXPECT_EQ(s.read(switches)[0], 3u);
  EXPECT_EQ(s.read(of_task)[0], 1u);
}

TEST_F(ManyCpus, TheNewestEventHearsFirst) {
  s.switch_to(1, A);
  Attr attr = switch_records();
  attr.sample_type |= perf::sample::ID;
  Event& first = s.open(attr, A, -1);
  perf::RingBuffer& ring = s.map(first);
  Event& second = s.open(attr, A, -1);
  ASSERT_TRUE(s.core().set_output(second, &first).ok());
  s.switch_to(1, 0);
  const auto heard = records_of(ring, RecordType::switch_);
  ASSERT_EQ(heard.size(), 2u);  // TID | TIME | ID | CPU
  EXPECT_EQ(heard[0].at(24), second.id);
  EXPECT_EQ(heard[1].at(24), first.id);
}

/// Counts how often the PMU is stopped.
struct Stops : Observer {
  unsigned count = 0;
  void on_register_write(const observed::RegisterWrite& write) override {
    count += write.address == msr::PERF_GLOBAL_CTRL && write.value == 0;
  }
};

TEST_F(ManyCpus, AnEventOfAnotherCpuStopsThePmuWhereItsTaskRuns) {  // Linux: __perf_install_in_context
  s.switch_to(0, A);
  s.open(instructions(), A, 0);
  Stops stops;
  s.pmu(0).set_observer(&stops);
  Event& elsewhere = s.open(instructions(), A, 1);
  EXPECT_EQ(stops.count, 1u);
  s.core().disable(elsewhere);
  stops.count = 0;
  s.core().enable(elsewhere);  // but not as it is enabled
  EXPECT_EQ(stops.count, 0u);
  s.pmu(0).set_observer(nullptr);
}

TEST_F(ManyCpus, TheKernelsOwnEventsStopNoPmu) {
  Event& clock = s.open(software(SoftwareId::cpu_clock), -1, 0);
  s.open(instructions(), -1, 0);
  Stops stops;
  s.pmu(0).set_observer(&stops);
  s.core().disable(clock);
  s.core().close(clock);
  EXPECT_EQ(stops.count, 0u);
  s.pmu(0).set_observer(nullptr);
}

TEST_F(ManyCpus, Scenario13AMoveIsPreemptionHereAndAnArrivalThere) {
  perf::RingBuffer& from = s.map(s.open(switch_records(), -1, 0));
  perf::RingBuffer& to = s.map(s.open(switch_records(), -1, 1));
  s.switch_to(0, A);
  records_in(from);
  s.until(1 * ms);
  EXPECT_THROW(s.switch_to(1, A), std::invalid_argument);
  s.switch_to(0, 0, Reason::preempted);
  s.switch_to(1, A);
  EXPECT_THAT(switches_in(from),
              ElementsAre(SwitchSeen{1 * ms, A, 0, 0, 0x6000}, SwitchSeen{1 * ms, 0, A, A, 0}));
  EXPECT_THAT(switches_in(to),
              ElementsAre(SwitchSeen{1 * ms, 0, A, A, 0x6000}, SwitchSeen{1 * ms, A, 0, 0, 0}));
}

/// T1 and T2 are clones of A, whose events they inherit, and take turns on CPU 0.
class Clones : public ManyCpus {
 protected:
  static constexpr u32 T1 = 101, T2 = 102;
  struct Writes : Observer {
    unsigned selects_and_counters = 0;
    void on_register_write(const observed::RegisterWrite& write) override {
      const bool general = write.address >= msr::PERFEVTSEL0 && write.address < msr::PERFEVTSEL0 + 8;
      const bool full_width = write.address >= msr::A_PMC0 && write.address < msr::A_PMC0 + 8;
      const bool fixed = write.address >= msr::FIXED_CTR0 && write.address < msr::FIXED_CTR0 + 4;
      selects_and_counters += general || full_width || fixed || write.address == msr::FIXED_CTR_CTRL;
    }
  };
  void open_and_fork(const Attr& wanted, i32 cpu = -1) {
    Attr attr = wanted;
    attr.inherit = 1;
    original = &s.open(attr, A, cpu);
    fork();
  }
  void fork() {
    s.core().fork(A, A, T1);
    s.core().fork(A, A, T2);
  }
  void alternate(u64 first, u64 second) {
    s.switch_to(0, T1);
    s.instructions(0, first);
    s.pmu(0).set_observer(&writes);
    s.switch_to(0, T2);
    s.pmu(0).set_observer(nullptr);
    s.instructions(0, second);
  }
  /// Of the children, in their order.
  std::vector<u64> counts() {
    s.read(*original);
    std::vector<u64> all;
    for (const Event* child : original->children) all.push_back(child->count);
    return all;
  }
  Event* original = nullptr;
  Writes writes;
};

TEST_F(Clones, Scenario14ExchangeTheirEventsAndNothingIsWritten) {
  open_and_fork(instructions());
  alternate(1000, 500);
  EXPECT_EQ(s.read(*original)[0], 1500u);
  EXPECT_THAT(counts(), ElementsAre(1500, 0));
  EXPECT_EQ(writes.selects_and_counters, 0u);
}

TEST_F(Clones, Scenario14KeepTheirCountsWhereTheyAreAskedFor) {
  Attr attr = instructions();
  attr.inherit_stat = 1;
  open_and_fork(attr);
  alternate(1000, 500);
  EXPECT_EQ(s.read(*original)[0], 1500u);
  EXPECT_THAT(counts(), ElementsAre(1000, 500));
}

TEST_F(Clones, Scenario14AreNoneWhereTheParentHasMoreEvents) {
  s.open(instructions(), A, -1);
  open_and_fork(instructions());
  alternate(1000, 500);
  EXPECT_THAT(counts(), ElementsAre(1000, 500));
  EXPECT_GT(writes.selects_and_counters, 0u);
}

TEST_F(Clones, Scenario15AnIntervalBeginsInOneAndEndsInTheOther) {
  using namespace perf::sample;
  open_and_fork(sampling(1000, TID | TIME | CPU | ID | STREAM_ID | PERIOD), 0);
  perf::RingBuffer& ring = s.map(*original);
  alternate(600, 600);
  const auto samples = records_of(ring, RecordType::sample);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].at<u32>(12), T2);
  EXPECT_EQ(samples[0].at(16), s.now(0) - (200 + 2) / 3);  // 400 instructions of its 600
  EXPECT_EQ(samples[0].at(24), original->id);
  EXPECT_EQ(samples[0].at(32), original->children[0]->id);
}

TEST_F(Clones, Scenario16KeepTheirEventsWhereSamplesReadThem) {
  using namespace perf::sample;
  open_and_fork(sampling(1'000'000, TID | READ));
  alternate(1000, 500);
  EXPECT_THAT(counts(), ElementsAre(1000, 500));
}

/// Sixteen P CPUs, eight E CPUs with a slower clock.
class Hybrid : public ManyCpus {
 protected:
  static constexpr u32 atom_type = 8;
  static std::vector<CpuModel> meteor_lake(std::size_t p, std::size_t e) {
    std::vector<CpuModel> all(p, *find_cpu_model("redwoodcove"));
    CpuModel slow = *find_cpu_model("crestmont");
    slow.core.tsc_per_core_cycle_numerator = 3;
    slow.core.tsc_per_core_cycle_denominator = 2;
    all.insert(all.end(), e, slow);
    for (CpuModel& model : all) model.core.tsc_hz = 3'000'000'000;
    return all;
  }
  Hybrid() : ManyCpus(meteor_lake(16, 8)) {}
  static Attr of_type(u32 type, HardwareId id = HardwareId::cpu_cycles) {
    Attr attr = generic(id);
    attr.config |= u64{type} << 32;
    return attr;
  }
  static Attr raw(u32 type) {
    Attr attr = generic(HardwareId::cpu_cycles);
    attr.type = type;
    attr.config = 0x3C;
    return attr;
  }
  const perf::PmuDriver* pmu_of(const Attr& attr, i32 pid, i32 cpu) { return s.open(attr, pid, cpu).pmu; }
  std::string name_of(const Attr& attr, i32 pid, i32 cpu) {
    return pmu_of(attr, pid, cpu)->capabilities().name;
  }
  void a_goes_from_p_to_e() {
    s.switch_to(0, A);
    s.until(1 * ms);
    s.switch_to(0, 0, Reason::preempted);
    s.switch_to(16, A);
    s.until(4 * ms);
  }
};

TEST_F(Hybrid, Scenario17EventsFindTheirPmu) {
  EXPECT_EQ(name_of(of_type(0), A, -1), "cpu_core");
  EXPECT_EQ(name_of(of_type(0), -1, 16), "cpu_atom");
  EXPECT_EQ(s.error_of(of_type(atom_type), -1, 0), ENOENT);
  EXPECT_EQ(s.error_of(raw(4), -1, 16), ENOENT);
  EXPECT_EQ(name_of(raw(atom_type), -1, 16), "cpu_atom");
  EXPECT_EQ(s.error_of(raw(atom_type), -1, 0), ENOENT);
  Event& core = s.open(of_type(4), A, -1);
  EXPECT_EQ(s.error_of(of_type(atom_type), A, -1, &core), EINVAL);
  Event& soft = s.open(software(SoftwareId::task_clock), A, -1);
  s.open(of_type(atom_type), A, -1, &soft);
  EXPECT_EQ(s.error_of(of_type(1), A, -1), ENOENT);
  EXPECT_EQ(name_of(of_type(0x63), A, -1), "cpu_core");
  EXPECT_EQ(s.error_of(raw(0x63), A, -1), ENOENT);
}

TEST_F(Hybrid, Scenario18EachTypeCountsItsPart) {
  Event& core = s.open(of_type(4), A, -1);
  Event& atom = s.open(of_type(atom_type), A, -1);
  a_goes_from_p_to_e();
  EXPECT_THAT(s.read(core), ElementsAre(3'000'000, 4 * ms, 1 * ms));
  EXPECT_THAT(s.read(atom), ElementsAre(6'000'000, 4 * ms, 3 * ms));
  EXPECT_EQ(s.pmu(16).tsc(), 12'000'000u);
  const auto scaled = [&](Event& event) {
    const auto words = s.read(event);
    return words[0] * words[1] / words[2];
  };
  EXPECT_EQ(scaled(core), 12'000'000u);
  EXPECT_EQ(scaled(atom), 8'000'000u);
  EXPECT_EQ(scaled(core) + scaled(atom), 20'000'000u);  // scenario 20: what --hybrid-merge shows
}

TEST_F(Hybrid, EitherPmusCodeStopsTheCountersOfTheCpuThatRunsIt) {  // Linux: x86_pmu_disable
  s.switch_to(0, A);
  s.open(of_type(4), A, -1);
  Stops stops;
  s.pmu(0).set_observer(&stops);
  Event& atom = s.open(of_type(atom_type), A, -1);
  EXPECT_EQ(stops.count, 1u);
  s.core().disable(atom);
  EXPECT_EQ(stops.count, 2u);
  s.core().enable(atom);
  EXPECT_EQ(stops.count, 3u);
  s.core().exit(A);  // each PMU's events leave by themselves
  EXPECT_EQ(stops.count, 5u);
  s.pmu(0).set_observer(nullptr);
}

TEST_F(Hybrid, Scenario19CpusCountTheirOwnTypeAllTheTime) {
  std::vector<Event*> events;
  for (i32 n = 0; n < 24; ++n) events.push_back(&s.open(of_type(n < 16 ? 4 : atom_type), -1, n));
  a_goes_from_p_to_e();
  // The cycle in which CPU 0 becomes idle is the program's to its end.
  const auto ran = [](u32 n) { return n == 0 ? 3'000'001 : n == 16 ? 6'000'000 : 0; };
  for (u32 n = 0; n < 24; ++n) EXPECT_THAT(s.read(*events[n]), ElementsAre(ran(n), 4 * ms, 4 * ms)) << n;
}

TEST_F(ManyCpus, Scenario21LargePebsIsDrainedWhereItWasRecorded) {
  using namespace perf::sample;
  Attr attr = sampling(1000, IP | TID | TIME | CPU);
  attr.precise_ip = 2;
  Event& event = s.open(attr, A, -1);
  perf::RingBuffer& ring = s.map(event);
  s.switch_to(0, A);
  s.instructions(0, 10'500);
  EXPECT_EQ(records_of(ring, RecordType::sample).size(), 0u);
  s.switch_to(0, 0, Reason::preempted);
  const auto first = records_of(ring, RecordType::sample);
  s.until(1, s.now(0));
  s.switch_to(1, A);
  s.instructions(1, 10'500);
  s.switch_to(1, 0);
  const auto second = records_of(ring, RecordType::sample);
  EXPECT_EQ(first.size(), 10u);
  EXPECT_GE(second.size(), 10u);
  EXPECT_LE(second.size(), 11u);
  u64 before = 0;
  for (const auto* part : {&first, &second})
    for (const CutRecord& sample : *part) {
      EXPECT_EQ(sample.at<u32>(20), A);
      EXPECT_EQ(sample.at<u32>(32), part == &first ? 0u : 1u);
      EXPECT_GE(sample.at(24), before);
      before = sample.at(24);
    }
  EXPECT_NE(*s.pmu(0).rdmsr(msr::DS_AREA), *s.pmu(1).rdmsr(msr::DS_AREA));
}

/// A near call at each multiple of 100H, to the next.
struct CallsEverywhere : perf::Target {
  std::vector<std::byte> read_code(u64, std::size_t bytes) const override {
    std::vector<std::byte> code{std::byte{0xE8}, std::byte{0xFB}, {}, {}, {}};
    code.resize(std::min(bytes, code.size()));
    return code;
  }
};

TEST_F(ManyCpus, Scenario22ACallStackGoesWithItsTask) {
  using namespace perf;
  const CallsEverywhere code;
  for (const u32 n : {0u, 1u}) s.core().cpu(n).set_target(code);
  Attr attr = sampling(100, sample::BRANCH_STACK | sample::CPU);
  attr.branch_sample_type = branch::USER | branch::CALL_STACK;
  Event& event = s.open(attr, A, -1);
  RingBuffer& ring = s.map(event);
  const auto calls = [&](u32 cpu, unsigned n) {
    for (unsigned i = 0; i < n; ++i)
      s.branch(cpu, 0x401000 + i * 0x100, 0x401100 + i * 0x100, BranchKind::direct_call);
  };
  const auto depth = [&](u32 cpu) {
    s.instructions(cpu, 120);  // at least one sample
    const auto samples = records_of(ring, RecordType::sample);
    EXPECT_FALSE(samples.empty());
    return samples.empty() ? 0 : samples.back().at(16);
  };
  const auto move = [&](u32 from, u32 to) {
    s.switch_to(from, 0, Reason::preempted);
    s.until(to, s.now(from));
    s.switch_to(to, A);
  };
  s.switch_to(0, A);
  calls(0, 5);
  EXPECT_EQ(depth(0), 5u);
  move(0, 1);
  EXPECT_EQ(depth(1), 5u);
  calls(1, 2);
  move(1, 0);
  EXPECT_EQ(depth(0), 7u);
}

class Throttled : public ManyCpus {
 protected:
  static perf::CoreOptions options() {
    perf::CoreOptions options;
    options.throttling = perf::Throttling::on;
    options.limits.max_sample_rate = 100'000;
    return options;
  }
  Throttled() : ManyCpus(ice_lakes(2), options()) {}
};

TEST_F(Throttled, Scenario29EachCpuThrottlesForItself) {
  using namespace perf::sample;
  std::vector<perf::RingBuffer*> rings;
  Attr attr = sampling(1000, TID | TIME | CPU);
  attr.sample_id_all = 1;
  for (Event* event : on_each_cpu(attr, -1)) rings.push_back(&s.map(*event));
  s.switch_to(0, A);
  s.switch_to(1, B);
  s.until(10 * ms);
  for (u32 n = 0; n < 2; ++n) {
    std::vector<u64> seen(32);
    for (const CutRecord& record : records_in(*rings[n])) {
      ++seen.at(record.header.type);
      EXPECT_EQ(record.trailer_cpu(), n);
    }
    EXPECT_EQ(seen[static_cast<u32>(RecordType::sample)], 1000u);
    EXPECT_EQ(seen[static_cast<u32>(RecordType::throttle)], 10u);
    EXPECT_EQ(seen[static_cast<u32>(RecordType::unthrottle)], 10u);
    EXPECT_EQ(seen[static_cast<u32>(RecordType::lost)], 0u);
  }
}

/// Eight events that take general counters, of which a thread has four while hyper-threading is on.
class Skylakes : public ManyCpus {
 protected:
  static std::vector<CpuModel> skylakes(u32 general_counters) {
    CpuModel model = *find_cpu_model("skylake");
    model.gp_counters = general_counters;
    return {model, model};
  }
  explicit Skylakes(u32 general_counters = 0xF) : ManyCpus(skylakes(general_counters)) {}
  std::vector<std::vector<u64>> after_eight_ms() {
    std::vector<Event*> events;
    Attr attr = instructions();
    attr.type = static_cast<u32>(perf::EventType::raw);
    attr.config = 0xC4;
    for (i32 n = 0; n < 16; ++n) events.push_back(&s.open(attr, -1, n % 2));
    s.until(8 * ms);
    std::vector<std::vector<u64>> read;
    for (Event* event : events) read.push_back(s.read(*event));
    return read;
  }
};
class WithoutHyperThreading : public Skylakes {
 protected:
  WithoutHyperThreading() : Skylakes(0xFF) {}
};

TEST_F(Skylakes, Scenario23HyperThreadsTakeTurnsOnTheirHalf) {
  EXPECT_EQ(s.pmu(0).cpuid(0xA, 0).eax, 0x07300404u);
  EXPECT_EQ(s.pmu(0).wrmsr(msr::PERFEVTSEL0 + 4, 0), Fault::gp);
  for (const auto& words : after_eight_ms()) EXPECT_THAT(words, ElementsAre(0, 8 * ms, 4 * ms));
}

TEST_F(WithoutHyperThreading, Scenario23AllEightCountAllTheTime) {
  EXPECT_EQ(s.pmu(0).cpuid(0xA, 0).eax, 0x07300804u);
  EXPECT_EQ(s.pmu(0).wrmsr(msr::PERFEVTSEL0 + 4, 0), Fault::none);
  for (const auto& words : after_eight_ms()) EXPECT_THAT(words, ElementsAre(0, 8 * ms, 8 * ms));
}

constexpr u64 kernel_entry = 0xFFFF'FFFF'8100'0000;

TEST_F(ManyCpus, Scenario26SystemCallsCountInTheRingWhereTheyExecute) {
  Attr in_kernel = instructions(), in_both = instructions(), far = instructions();
  in_kernel.exclude_user = 1;
  in_kernel.exclude_kernel = in_both.exclude_kernel = far.exclude_kernel = 0;
  far.type = static_cast<u32>(perf::EventType::raw);
  far.config = 0x40C4;
  Event &user = s.open(instructions(), A, -1), &kernel = s.open(in_kernel, A, -1),
        &both = s.open(in_both, A, -1), &far_branches = s.open(far, A, -1),
        &switches = s.open(software(SoftwareId::context_switches), A, -1);
  for (const u32 cpu : {0u, 1u}) {
    s.switch_to(cpu, A);
    for (unsigned n = 0; n < 500; ++n) {
      s.instructions(cpu, 49);
      s.branch(cpu, 0x401000, kernel_entry, BranchKind::syscall, Cpl::user, Cpl::kernel);
      s.kernel_instructions(cpu, kernel_entry, 199);
      s.branch(cpu, kernel_entry, 0x401002, BranchKind::sysret, Cpl::kernel, Cpl::user);
    }
    EXPECT_EQ(s.read(switches)[0], cpu);  // none but the move
    s.switch_to(cpu, 0, Reason::preempted);
  }
  EXPECT_EQ(s.read(user)[0], 50'000u);
  EXPECT_EQ(s.read(kernel)[0], 200'000u);
  EXPECT_EQ(s.read(both)[0], 250'000u);
  EXPECT_EQ(s.read(far_branches)[0], 2'000u);
}

/// A jump and a system call of a program, a jump of the kernel and its return, as code.
struct SystemCallCode : perf::Target {
  static constexpr u64 jump = 0x401000, call = 0x402000, back = call + 2;
  static constexpr u64 kernel_jump = kernel_entry + 0x10, kernel_return = kernel_entry + 0x100;
  std::vector<std::byte> read_code(u64 address, std::size_t bytes) const override {
    const auto code = [](auto... each) { return std::vector{std::byte{static_cast<u8>(each)}...}; };
    std::vector<std::byte> found;
    if (address == jump || address == kernel_jump) found = code(0xE9, 0, 0, 0, 0);
    if (address == call) found = code(0x0F, 0x05);
    if (address == kernel_return) found = code(0x48, 0x0F, 0x07);
    found.resize(std::min(bytes, found.size()));
    return found;
  }
};

using Branches = std::vector<std::pair<u64, u64>>;

/// The branch stack of a sample behind a system call, the newest first, without slots that are empty.
Branches branches_around_a_system_call(const char* model, perf::Kernel kernel, u64 privileges) {
  using Code = SystemCallCode;
  const Code code;
  SeveralCpus s({*find_cpu_model(model)}, {.limits = {.kernel = kernel}});
  s.core().cpu(0).set_target(code);
  s.core().task_started(A, A, "a");
  Attr attr = sampling(10, perf::sample::BRANCH_STACK);
  attr.branch_sample_type = perf::branch::ANY | privileges;
  perf::RingBuffer& ring = s.map(s.open(attr, A, -1));
  s.switch_to(0, A);
  s.branch(0, Code::jump, Code::call, BranchKind::direct_jump);
  s.branch(0, Code::call, kernel_entry, BranchKind::syscall, Cpl::user, Cpl::kernel);
  s.branch(0, Code::kernel_jump, Code::kernel_return, BranchKind::direct_jump, Cpl::kernel, Cpl::kernel);
  s.branch(0, Code::kernel_return, Code::back, BranchKind::sysret, Cpl::kernel, Cpl::user);
  s.instructions(0, 12);
  const auto samples = records_of(ring, RecordType::sample);
  EXPECT_EQ(samples.size(), 1u);
  Branches found;
  for (u64 n = 0; !samples.empty() && n < samples[0].at(8); ++n)
    found.emplace_back(samples[0].at(16 + 24 * n), samples[0].at(24 + 24 * n));
  std::erase(found, std::pair<u64, u64>{});
  return found;
}

TEST(ManyCpusInTheKernel, Scenario27BranchesThatUserCodeMade) {
  using Code = SystemCallCode;
  using namespace perf;
  const std::pair<u64, u64> jump{Code::jump, Code::call}, call{Code::call, kernel_entry},
      kernel_jump{Code::kernel_jump, Code::kernel_return}, back{Code::kernel_return, Code::back};
  const char* const legacy = "skylake";
  const char* const architectural = "sapphirerapids";
  EXPECT_THAT(branches_around_a_system_call(legacy, Kernel::v6_14, branch::USER), ElementsAre(back, jump));
  EXPECT_THAT(branches_around_a_system_call(architectural, Kernel::v6_14, branch::USER), ElementsAre(jump));
  for (const char* model : {legacy, architectural}) {
    EXPECT_THAT(branches_around_a_system_call(model, Kernel::v7_1, branch::USER), ElementsAre(jump)) << model;
    EXPECT_THAT(branches_around_a_system_call(model, Kernel::v7_1, branch::USER | branch::KERNEL),
                ElementsAre(back, kernel_jump, call, jump))
        << model;
  }
}

/// A task in the kernel: what it had in user mode when it entered, and its stack there.
struct InTheKernel : perf::Target {
  static constexpr u64 caller = 0x400500, frame = 0x7FF0;
  InTheKernel() {
    saved.rip = 0x402002;
    saved[Gpr::rax] = 39;
    saved[Gpr::rbp] = frame;
  }
  const Registers* user_registers() const override { return &saved; }
  std::vector<std::byte> read_memory(u64 address, std::size_t bytes) const override {
    const std::array<u64, 2> words{0, caller};  // the outermost frame
    if (address != frame || bytes != sizeof words) return {};
    const auto raw = std::as_bytes(std::span(words));
    return {raw.begin(), raw.end()};
  }
  Registers saved;
};

class InTheKernelSince : public testing::TestWithParam<perf::Kernel> {
 protected:
  static constexpr u64 skid_cycles = 24, cycles_before_the_call = 5;
  /// The boundary before the first instruction that retires when the skid is over.
  static constexpr u64 ip = kernel_entry + 4 * (skid_cycles - cycles_before_the_call - 1);

  /// An event of user mode overflows, and then comes the system call.
  static std::vector<CutRecord> samples(const Attr& attr) {
    const InTheKernel target;
    CpuModel model = *find_cpu_model("icelake");
    model.policies.pmi_skid_cycles = skid_cycles;
    SeveralCpus s({model}, {.limits = {.kernel = GetParam()}}, 8, SeveralCpus::Delays::of_models);
    s.core().cpu(0).set_target(target);
    s.core().task_started(A, A, "a");
    perf::RingBuffer& ring = s.map(s.open(attr, A, -1));
    s.switch_to(0, A);
    s.instructions(0, 100 + cycles_before_the_call - 1);
    s.branch(0, 0x402000, kernel_entry, BranchKind::syscall, Cpl::user, Cpl::kernel);
    s.kernel_instructions(0, kernel_entry, 100);
    return records_of(ring, RecordType::sample);
  }
};

TEST_P(InTheKernelSince, Scenario28AnOverflowOfUserModeIsSampled) {
  using namespace perf::sample;
  constexpr u64 kernel_mark = ~u64{127}, user_mark = ~u64{511};
  const Registers saved = InTheKernel().saved;
  for (const bool with_kernel_part : {true, false}) {
    Attr attr = sampling(100, IP | CALLCHAIN | REGS_USER);
    attr.sample_regs_user = bit(0) | bit(8);  // AX and IP
    attr.exclude_callchain_kernel = !with_kernel_part;
    const auto all = samples(attr);
    ASSERT_EQ(all.size(), 1u);
    const CutRecord& sample = all[0];
    EXPECT_EQ(sample.header.misc & 7, 1u);
    EXPECT_EQ(sample.at(8), GetParam() == perf::Kernel::v6_12 ? ip : 0);  // later ones hide it
    std::vector<u64> chain;
    for (u64 n = 0; n < sample.at(16); ++n) chain.push_back(sample.at(24 + 8 * n));
    std::vector<u64> expected{kernel_mark, ip, user_mark, saved.rip, InTheKernel::caller};
    if (!with_kernel_part) expected.erase(expected.begin(), expected.begin() + 2);
    EXPECT_EQ(chain, expected);
    const std::size_t registers = 24 + 8 * chain.size();
    EXPECT_EQ(sample.at(registers), 2u);  // PERF_SAMPLE_REGS_ABI_64
    EXPECT_EQ(sample.at(registers + 8), saved[Gpr::rax]);
    EXPECT_EQ(sample.at(registers + 16), saved.rip);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, InTheKernelSince,
                         testing::Values(perf::Kernel::v6_12, perf::default_kernel), [](const auto& kernel) {
                           return kernel.param == perf::Kernel::v6_12 ? "Linux6_12" : "Newest";
                         });

/// On counters that events of tasks and CPUs share, what is counted adds up wherever tasks are put.
TEST(ManyCpusAtRandom, CountsOfTasksAndCpusAddUp) {
  constexpr u32 cpus = 3;
  for (u64 seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    SeveralCpus s(ice_lakes(cpus));
    const std::array<u32, 2> tids{A, B};
    std::array<std::optional<u32>, 2> on;
    std::array<std::array<u64, cpus>, 2> retired{}, branched{};
    struct Opened {
      Event* event;
      std::optional<std::size_t> task;
      std::optional<u32> cpu;
      bool branches;
    };
    std::vector<Opened> opened;
    for (const u32 tid : tids) s.core().task_started(tid, tid, "task");
    for (const bool branches : {false, true}) {
      const Attr attr = generic(branches ? HardwareId::branch_instructions : HardwareId::instructions);
      for (std::size_t task = 0; task < tids.size(); ++task) {
        const auto pid = static_cast<i32>(tids[task]);
        opened.push_back({&s.open(attr, pid, -1), task, {}, branches});
        for (u32 cpu = 0; cpu < cpus; ++cpu)
          opened.push_back({&s.open(attr, pid, static_cast<i32>(cpu)), task, cpu, branches});
      }
      for (u32 cpu = 0; cpu < cpus; ++cpu)
        opened.push_back({&s.open(attr, -1, static_cast<i32>(cpu)), {}, cpu, branches});
    }
    for (int step = 0; step < 30; ++step) {
      const std::size_t task = dice.below(tids.size());
      const u32 cpu = static_cast<u32>(dice.below(cpus));
      if (on[task]) {
        const u64 n = dice.below(3000), branches = dice.below(5);
        s.instructions(*on[task], n);
        for (u64 b = 0; b < branches; ++b) s.branch(*on[task], 0x401000, 0x402000, BranchKind::direct_jump);
        retired[task][*on[task]] += n + branches;
        branched[task][*on[task]] += branches;
      }
      if (dice.one_in(2)) continue;
      if (on[task]) s.switch_to(*std::exchange(on[task], std::nullopt), 0, Reason::preempted);
      if (s.core().cpu(cpu).current_tid() != 0) continue;
      s.switch_to(cpu, tids[task]);
      on[task] = cpu;
    }
    for (const Opened& each : opened) {
      u64 expected = 0;
      for (std::size_t task = 0; task < tids.size(); ++task)
        for (u32 cpu = 0; cpu < cpus; ++cpu)
          if ((!each.task || *each.task == task) && (!each.cpu || *each.cpu == cpu))
            expected += (each.branches ? branched : retired)[task][cpu];
      ASSERT_EQ(s.read(*each.event)[0], expected) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace pmusim::many_cpus_test

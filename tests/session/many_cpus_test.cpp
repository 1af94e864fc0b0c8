// SPDX-License-Identifier: MIT
// A program whose threads take turns on the CPUs of a machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pmusim/session/record.h"
#include "pmusim/session/stat.h"
#include "session/core_types.h"
#include "tests/session/walk.h"

namespace pmusim::many_cpus_test {
namespace {

constexpr u64 block_runs = 20'000;

Session open(const char* machine, u64 seed = 1, Schedule schedule = Schedule::spread,
             Stepping stepping = Stepping::blocks) {
  SessionOptions options;
  if (std::string_view(machine).find(':') == std::string_view::npos) {
    options.model = *find_cpu_model(machine);
  } else {
    options.machine = *parse_machine(machine);
    options.model = options.machine->types.front();
  }
  options.schedule = schedule;
  options.stepping = stepping;
  options.tick_ns = 1000;  // the walks are short
  auto walk = std::make_unique<test::Walk>(seed, block_runs, test::Walk::Registers::unknown);
  return *Session::open(std::move(walk), options);
}

const std::string counted =
    "cycles,instructions,branches,branch-misses,ref-cycles,context-switches,cpu-migrations";

StatReport count(Session session, std::optional<std::vector<u32>> cpus, const std::string& list = counted,
                 Fitting fitting = Fitting::replay_again) {
  StatOptions options{.events = *events::parse_events(list, session.model())};
  options.fitting = fitting;
  options.cpus = std::move(cpus);
  return *stat(session, options);
}

std::vector<u64> values(const std::vector<EventTotal>& totals, std::size_t first = 0, std::size_t last = 5) {
  std::vector<u64> all;
  for (std::size_t n = first; n < last; ++n) all.push_back(totals[n].value());
  return all;
}

TEST(ManyCpus, AMachineOfOneCpuCountsWhatOneCpuDoes) {
  for (const u64 seed : {1, 2, 3}) {
    const StatReport alone = count(open("skylake", seed), std::nullopt);
    EXPECT_EQ(values(count(open("skylake:1c", seed), std::vector<u32>{0}).events), values(alone.events));
    EXPECT_EQ(values(count(open("skylake:1c", seed), std::nullopt).events), values(alone.events));
  }
}

TEST(ManyCpus, CountsOfCpusAreThoseOfTheProgram) {
  for (const Schedule schedule : {Schedule::spread, Schedule::rotate})
    for (const char* machine : {"skylake:2c", "skylake:2c4t", "icelake:8c"}) {
      const Topology all = *parse_machine(machine);
      const StatReport by_cpu = count(open(machine, 4, schedule), all.online());
      const StatReport by_task = count(open(machine, 4, schedule), std::nullopt);
      EXPECT_EQ(values(by_cpu.events), values(by_task.events)) << machine;
      std::vector<u64> sums(5);
      for (const CpuTotals& cpu : by_cpu.cpus)
        for (std::size_t n = 0; n < sums.size(); ++n) sums[n] += values(cpu.events)[n];
      EXPECT_EQ(sums, values(by_task.events)) << machine;
      EXPECT_EQ(by_task.events[1].value(), by_task.instructions);
    }
}

TEST(ManyCpus, AnyCountsBothThreadsOfACore) {
  const std::string list =
      "cpu/event=0xc0/u,cpu/event=0xc0,any/u,cpu/event=0x3c/u,cpu/event=0x3c,any/u,context-switches";
  for (const Schedule schedule : {Schedule::spread, Schedule::rotate})
    for (const char* machine : {"skylake:1c2t", "nehalem:2c4t"}) {
      const Topology topology = *parse_machine(machine);
      const StatReport report = count(open(machine, 3, schedule), topology.online(), list);
      const auto value_of = [&](u32 cpu, std::size_t event) {
        return report.cpus[cpu].events[event].counted;
      };
      u64 all = 0;
      for (const u32 cpu : topology.online()) {
        const u32 first = topology.first_of_core(cpu);
        for (const std::size_t plain : {0u, 2u}) {
          u64 of_core = 0;
          for (const u32 other : topology.online())
            if (topology.first_of_core(other) == first) of_core += value_of(other, plain);
          EXPECT_EQ(value_of(cpu, plain + 1), of_core) << machine << " CPU " << cpu << " event " << plain;
        }
        all += value_of(cpu, 0);
      }
      EXPECT_EQ(all, report.instructions);
    }
}

TEST(ManyCpus, ThreadsOfACoreKeepMemoryEventsOffEachOthersCounters) {
  // While such an event is on, a thread has half of its counters, and the third one waits.
  const std::string list = "r81d0:u,r82d0:u,r00c4:u";
  for (const char* machine : {"haswell:1c2t", "haswell:2c", "skylake:1c2t"}) {
    const StatReport report = count(open(machine, 3), std::vector<u32>{0, 1}, list, Fitting::multiplex);
    bool shared = false;
    for (const CpuTotals& cpu : report.cpus)
      for (const EventTotal& event : cpu.events) shared = shared || event.running_ns < event.enabled_ns;
    EXPECT_EQ(shared, std::string_view(machine) == "haswell:1c2t") << machine;
  }
}

TEST(ManyCpus, TimeOnEveryCpuIsThatOfTheRun) {
  const StatReport report = count(open("icelake:4c", 5), std::vector<u32>{0, 1, 2, 3}, "cpu-clock,cycles");
  for (const CpuTotals& cpu : report.cpus) {
    EXPECT_EQ(cpu.events[0].value(), report.elapsed_ns) << cpu.cpu;
    EXPECT_EQ(cpu.events[1].enabled_ns, report.elapsed_ns) << cpu.cpu;
    EXPECT_EQ(cpu.events[1].running_ns, report.elapsed_ns) << cpu.cpu;
  }
  EXPECT_NE(report.cpus[0].events[1].value(), 0u);  // the first thread
  EXPECT_NE(report.cpus[1].events[1].value(), 0u);  // the second
  EXPECT_EQ(report.cpus[2].events[1].value(), 0u);  // idle: halted
}

TEST(ManyCpus, ARotatingThreadMigratesEveryTick) {
  StatReport report =
      count(open("icelake:4c", 6, Schedule::rotate), std::nullopt, "cpu-migrations,context-switches");
  EXPECT_NEAR(static_cast<double>(report.events[0].value()), static_cast<double>(report.elapsed_ns) / 1000,
              static_cast<double>(report.elapsed_ns) / 1000 / 4);
  report = count(open("icelake:4c", 6), std::nullopt, "cpu-migrations,context-switches");
  EXPECT_EQ(report.events[0].value(), 0u);  // two threads, four CPUs: nobody has to move
  EXPECT_NE(report.events[1].value(), 0u);
}

TEST(ManyCpus, SteppingMakesNoDifference) {
  for (const char* machine : {"icelake:2c4t", "alderlake:1p1e"}) {
    const auto run = [&](Stepping stepping) {
      Session session = open(machine, 7, Schedule::rotate, stepping);
      const StatReport report = count(std::move(session), parse_machine(machine)->online());
      std::vector<std::vector<u64>> all;
      for (const CpuTotals& cpu : report.cpus) all.push_back(values(cpu.events, 0, 7));
      return all;
    };
    EXPECT_EQ(run(Stepping::blocks), run(Stepping::instructions)) << machine;
  }
}

TEST(ManyCpus, EachKindOfCoreCountsWhatRanOnIt) {
  Session session = open("alderlake:1p1e", 8, Schedule::rotate);
  auto groups = *events::parse_events("instructions,instructions", session.model());
  groups[0].events[0].attr = of_core_type(groups[0].events[0].attr, 0);
  groups[1].events[0].attr = of_core_type(groups[1].events[0].attr, 1);
  const StatReport report = *stat(session, {.events = groups});
  const EventTotal &core = report.events[0], &atom = report.events[1];
  EXPECT_EQ(core.counted + atom.counted, report.instructions);
  EXPECT_NE(core.counted, 0u);
  EXPECT_NE(atom.counted, 0u);
  EXPECT_EQ(core.enabled_ns, atom.enabled_ns);
  EXPECT_EQ(core.running_ns + atom.running_ns, core.enabled_ns);
}

TEST(ManyCpus, ThreadsAreSampledWhereTheyRun) {
  Session session = open("skylake:4c", 9);
  RecordOptions options{.events = *events::parse_events("instructions:u", session.model()), .period = 101};
  const Samples samples = *sample(session, options);
  ASSERT_GT(samples.size(), 100u);
  for (std::size_t n = 0; n < samples.size(); ++n) {
    const auto who = samples[n].sample.who;
    EXPECT_EQ(who.cpu, who.tid - 1u) << n;  // thread 1 on CPU 0, thread 2 on CPU 1
  }
}

TEST(ManyCpus, CpusThatAreAskedForAreSampledAlone) {
  Session session = open("skylake:4c", 9);
  RecordOptions options{.events = *events::parse_events("instructions:u", session.model()), .period = 101};
  options.cpus = {1};
  const Samples samples = *sample(session, options);
  ASSERT_GT(samples.size(), 100u);
  for (std::size_t n = 0; n < samples.size(); ++n) EXPECT_EQ(samples[n].sample.who.cpu, 1u);
}

// A PMI is shorter on its way than a kernel's switch to another task.
TEST(ManyCpus, AnInterruptComesBeforeTheThreadLeaves) {
  for (const Schedule schedule : {Schedule::spread, Schedule::rotate}) {
    Session session = open("skylake:4c", 9, schedule);
    RecordOptions options{.events = *events::parse_events("instructions:u", session.model()), .period = 11};
    options.cpus = {0, 1, 2, 3};
    const Samples samples = *sample(session, options);
    ASSERT_GT(samples.size(), 1000u);
    for (std::size_t n = 0; n < samples.size(); ++n) EXPECT_NE(samples[n].sample.who.tid, 0u) << n;
  }
}

}  // namespace
}  // namespace pmusim::many_cpus_test

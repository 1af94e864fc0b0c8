// SPDX-License-Identifier: MIT
// Random programs at random places: what events of tasks, of CPUs, and of tasks on a CPU have counted,
// against a model that only adds up. And that nothing depends on how CPUs are numbered.
#include <gmock/gmock.h>

#include <array>
#include <numeric>
#include <thread>

#include "tests/perf/core_fixture.h"
#include "tests/support/dice.h"

namespace pmusim::perf {
namespace {

constexpr std::size_t CPUS = 3, ROOTS = 2;
constexpr u32 FIRST_ROOT = 100;
constexpr u64 PERIOD = 1000;

struct Step {
  enum class Kind : u8 { run, place, fork, exit, enable, disable } kind = Kind::run;
  std::size_t cpu = 0;
  u32 task = 0;  ///< place: 0 is idle. fork: the parent
  u32 child = 0;
  u64 n = 0;  ///< run: occurrences
  std::size_t event = 0;
  bool preempts = false;
  u64 time = 0;
};

/// Who exists, who has run, and where.
struct Tasks {
  struct Task {
    u32 root = 0;
    bool has_run = false, gone = false;
    std::optional<std::size_t> cpu;
  };
  std::map<u32, Task> all;
  std::array<u32, CPUS> on{};  // 0: idle

  Tasks() {
    for (u32 n = 0; n < ROOTS; ++n) all[FIRST_ROOT + n] = {.root = FIRST_ROOT + n};
  }
  void apply(const Step& step) {
    const auto leave = [&](u32 tid) {
      if (tid == 0) return;
      on[*all[tid].cpu] = 0;
      all[tid].cpu.reset();
    };
    switch (step.kind) {
      case Step::Kind::place:
        leave(on[step.cpu]);
        on[step.cpu] = step.task;
        if (step.task != 0) all[step.task].cpu = step.cpu, all[step.task].has_run = true;
        break;
      case Step::Kind::fork:
        all[step.child] = {.root = all[step.task].root};
        break;
      case Step::Kind::exit:
        if (all[step.task].cpu) leave(step.task);
        all[step.task].gone = true;
        break;
      default:
        break;
    }
  }
};

/// What is opened: of each root everywhere and on each CPU, inherited or not, and of each CPU.
struct Opened {
  u32 root = 0;  // 0: of the CPU
  std::optional<std::size_t> cpu;
  bool inherit = false;
  bool sampling = false;
};

std::vector<Opened> all_events() {
  std::vector<Opened> events;
  for (const bool inherit : {true, false})
    for (u32 n = 0; n < ROOTS; ++n) {
      events.push_back({.root = FIRST_ROOT + n, .inherit = inherit});
      for (std::size_t cpu = 0; cpu < CPUS; ++cpu)
        events.push_back({.root = FIRST_ROOT + n, .cpu = cpu, .inherit = inherit});
    }
  for (std::size_t cpu = 0; cpu < CPUS; ++cpu) events.push_back({.cpu = cpu});
  for (std::size_t cpu = 0; cpu < CPUS; ++cpu) events.push_back({.cpu = cpu, .sampling = true});
  for (std::size_t cpu = 0; cpu < CPUS; ++cpu)
    events.push_back({.root = FIRST_ROOT, .cpu = cpu, .inherit = true, .sampling = true});
  return events;
}

/// Enabling and disabling in between would end the identities of sums; without it they must hold.
enum class Switching : u8 { never, at_random };

std::vector<Step> draw_program(Dice& dice, std::size_t places, Switching switching, std::size_t steps = 24) {
  std::vector<Step> program;
  Tasks tasks;
  u32 next_tid = 200;
  u64 time = 0;
  const std::size_t events = all_events().size();
  const auto pick = [&](auto&& suits) -> u32 {
    std::vector<u32> found;
    for (const auto& [tid, task] : tasks.all)
      if (!task.gone && suits(task)) found.push_back(tid);
    return found.empty() ? 0 : found[dice.below(found.size())];
  };
  while (program.size() < steps) {
    Step step{.cpu = dice.below(places), .time = time += 1 + dice.below(400'000)};
    const u64 kind = dice.below(switching == Switching::never ? 9 : 12);
    if (kind < 4) {
      step.n = 1 + dice.below(PERIOD);
    } else if (kind < 7) {
      step.kind = Step::Kind::place;
      step.task = dice.one_in(4) ? 0 : pick([](const auto& task) { return !task.cpu; });
      step.preempts = dice.one_in(2);
      if (step.task == tasks.on[step.cpu]) continue;
    } else if (kind == 7) {
      step.kind = Step::Kind::fork;
      step.task = pick([](const auto& task) { return task.cpu.has_value(); });
      step.child = next_tid++;
      if (step.task == 0 || tasks.all.size() > 6) continue;
    } else if (kind == 8) {
      step.kind = Step::Kind::exit;
      step.task = pick([](const auto& task) { return task.has_run; });
      if (step.task == 0 || dice.one_in(2)) continue;
    } else {
      step.kind = dice.one_in(2) ? Step::Kind::enable : Step::Kind::disable;
      step.event = dice.below(events);
    }
    tasks.apply(step);
    program.push_back(step);
  }
  return program;
}

struct Reading {
  u64 count = 0, enabled = 0, running = 0;
  bool operator==(const Reading&) const = default;
};

/// Adds up, and knows nothing of contexts.
class NaiveCounts {
 public:
  std::vector<Reading> run(const std::vector<Step>& program) {
    for (const Step& step : program) {
      pass(step.time);
      if (step.kind == Step::Kind::run) occur(step.cpu, step.n);
      if (step.kind == Step::Kind::enable) set(step.event, true);
      if (step.kind == Step::Kind::disable) set(step.event, false);
      tasks_.apply(step);
    }
    return readings_;
  }
  u64 while_idle = 0;

 private:
  void set(std::size_t event, bool on) { enabled_[event] = on; }
  bool is_of(const Opened& event, u32 tid) const {
    if (event.root == 0) return true;
    return tid != 0 && (event.inherit ? tasks_.all.at(tid).root == event.root : tid == event.root);
  }
  void pass(u64 time) {
    for (std::size_t n = 0; n < events_.size(); ++n) {
      if (!enabled_[n]) continue;
      for (std::size_t cpu = 0; cpu < CPUS; ++cpu) {
        const bool here = !events_[n].cpu || *events_[n].cpu == cpu;
        if (events_[n].root == 0 ? !here : !is_of(events_[n], tasks_.on[cpu])) continue;
        readings_[n].enabled += time - time_;
        if (here) readings_[n].running += time - time_;
      }
    }
    time_ = time;
  }
  void occur(std::size_t cpu, u64 n) {
    if (tasks_.on[cpu] == 0) while_idle += n;
    for (std::size_t e = 0; e < events_.size(); ++e) {
      const bool here = !events_[e].cpu || *events_[e].cpu == cpu;
      if (enabled_[e] && here && is_of(events_[e], tasks_.on[cpu])) readings_[e].count += n;
    }
  }

  Tasks tasks_;
  std::vector<Opened> events_ = all_events();
  std::vector<bool> enabled_ = std::vector<bool>(events_.size(), true);
  std::vector<Reading> readings_ = std::vector<Reading>(events_.size());
  u64 time_ = 0;
};

/// The core with a PMU on each CPU; CPU `n` of the program is number `numbers[n]`.
class World {
 public:
  explicit World(std::vector<u32> numbers = {0, 1, 2}) : numbers_(std::move(numbers)) {
    std::vector<PmuDriver*> drivers;
    for (std::size_t n = 0; n < numbers_.size(); ++n) drivers.push_back(&drivers_[n]);
    // Since Linux 7.3 times of children lack what was waited for at last (ChildrensTimes).
    core_ = PerfCore::create(drivers, {.limits = {.kernel = Kernel::v7_1}});
    for (u32 n = 0; n < ROOTS; ++n) core_->task_started(FIRST_ROOT + n, FIRST_ROOT + n, "root");
    for (const Opened& wanted : all_events()) {
      if (wanted.cpu && *wanted.cpu >= numbers_.size()) continue;
      Attr attr;
      attr.type = static_cast<u32>(EventType::raw);
      attr.read_format = read_format::TOTAL_TIME_ENABLED | read_format::TOTAL_TIME_RUNNING;
      attr.inherit = wanted.inherit;
      if (wanted.sampling) {
        attr.sample_period = PERIOD;
        attr.sample_type = sample::TID | sample::TIME | sample::CPU;
        attr.sample_id_all = attr.task = attr.comm = attr.context_switch = 1;
      }
      const i32 pid = wanted.root == 0 ? -1 : static_cast<i32>(wanted.root);
      const i32 cpu = wanted.cpu ? static_cast<i32>(numbers_[*wanted.cpu]) : -1;
      events_.push_back(core_->open(attr, pid, cpu).value());
      if (wanted.sampling) rings_.push_back(core_->mmap(*events_.back(), 8).value());
    }
  }

  void run(std::span<const Step> program) {
    for (const Step& step : program) {
      for (const u32 number : numbers_) core_->cpu(number).advance(step.time, {});
      PerfCpu& cpu = core_->cpu(numbers_[step.cpu]);
      switch (step.kind) {
        case Step::Kind::run:
          drivers_[cpu.number()].count(step.n, cpu, {});
          break;
        case Step::Kind::place:
          cpu.switch_to(step.task,
                        step.preempts ? PerfCpu::SwitchReason::preempted : PerfCpu::SwitchReason::blocked);
          break;
        case Step::Kind::fork:
          core_->fork(step.task, step.child, step.child);
          break;
        case Step::Kind::exit:
          core_->exit(step.task);
          break;
        case Step::Kind::enable:
          core_->enable(*events_[step.event]);
          break;
        case Step::Kind::disable:
          core_->disable(*events_[step.event]);
          break;
      }
    }
  }
  std::vector<Reading> readings() {
    std::vector<Reading> all;
    for (Event* event : events_) {
      const auto words = core_->read(*event).value();
      all.push_back({words.at(0), words.at(1), words.at(2)});
    }
    return all;
  }
  /// Records of each buffer; those of CPUs come first, then those of the first root on each.
  std::vector<std::vector<RawRecord>> records() {
    std::vector<std::vector<RawRecord>> all;
    for (RingBuffer* ring : rings_) all.push_back(drain_records(*ring));
    return all;
  }

 private:
  std::vector<u32> numbers_;
  std::array<FakeDriver, CPUS> drivers_{FakeDriver{64}, FakeDriver{64}, FakeDriver{64}};
  std::unique_ptr<PerfCore> core_;
  std::vector<Event*> events_;
  std::vector<RingBuffer*> rings_;
};

constexpr std::size_t at_cpu = 8, at_time = 16;  // bytes before the end, of samples and trailers alike

u32 cpu_in(const RawRecord& record) { return record.at<u32>(record.bytes.size() - at_cpu); }

constexpr u64 CASES = 10'000;

TEST(Placements, CountAndTimeLikeTheModel) {
  for (u64 seed = 0; seed < CASES; ++seed) {
    Dice dice(seed);
    const auto program = draw_program(dice, CPUS, Switching::at_random);
    World world;
    world.run(program);
    ASSERT_EQ(world.readings(), NaiveCounts().run(program)) << "seed " << seed;
  }
}

/// (a) a task's events of all CPUs together are its event of any CPU; (b) CPUs together are all tasks and
/// idle.
TEST(Placements, AddUpToTheSameWhoeverIsAsked) {
  for (u64 seed = 0; seed < CASES / 4; ++seed) {
    Dice dice(seed);
    const auto program = draw_program(dice, CPUS, Switching::never);
    World world;
    world.run(program);
    const auto readings = world.readings();
    NaiveCounts model;
    model.run(program);
    u64 of_tasks = model.while_idle, of_cpus = 0;
    std::size_t next = 0;
    for (std::size_t n = 0; n < 2 * ROOTS; ++n) {
      const u64 anywhere = readings[next++].count;
      u64 on_cpus = 0;
      for (std::size_t cpu = 0; cpu < CPUS; ++cpu) on_cpus += readings[next++].count;
      ASSERT_EQ(on_cpus, anywhere) << "seed " << seed;
      if (n < ROOTS) of_tasks += anywhere;  // inherited: the whole family
    }
    for (std::size_t cpu = 0; cpu < CPUS; ++cpu) of_cpus += readings[next++].count;
    // Tasks whose root has gone are still its family's, but nobody forks without an event that is inherited.
    ASSERT_EQ(of_cpus, of_tasks) << "seed " << seed;
  }
}

/// (g) and (h)
TEST(Placements, WriteEachBufferOnItsCpuInOrder) {
  for (u64 seed = 0; seed < CASES / 4; ++seed) {
    Dice dice(seed);
    World world;
    world.run(draw_program(dice, CPUS, Switching::at_random, 60));
    const auto rings = world.records();
    for (std::size_t n = 0; n < rings.size(); ++n) {
      u64 before = 0;
      for (const RawRecord& record : rings[n]) {
        ASSERT_EQ(cpu_in(record), n % CPUS) << "seed " << seed;
        const u64 time = record.at(record.bytes.size() - at_time);
        ASSERT_GE(time, before) << "seed " << seed;
        before = time;
      }
    }
  }
}

/// (d)
TEST(Placements, DoNotDependOnTheNumbersOfCpus) {
  for (u64 seed = 0; seed < CASES / 4; ++seed) {
    Dice dice(seed);
    const auto program = draw_program(dice, CPUS, Switching::at_random);
    std::vector<u32> numbers{0, 1, 2};
    for (std::size_t n = CPUS; n > 1; --n) std::swap(numbers[n - 1], numbers[dice.below(n)]);
    World plain, renumbered(numbers);
    plain.run(program);
    renumbered.run(program);
    ASSERT_EQ(plain.readings(), renumbered.readings()) << "seed " << seed;
    auto one = plain.records(), other = renumbered.records();
    for (std::size_t ring = 0; ring < one.size(); ++ring) {
      ASSERT_EQ(one[ring].size(), other[ring].size()) << "seed " << seed;
      for (std::size_t n = 0; n < one[ring].size(); ++n) {
        RawRecord &a = one[ring][n], &b = other[ring][n];
        ASSERT_EQ(cpu_in(b), numbers[cpu_in(a)]);
        std::memset(a.bytes.data() + a.bytes.size() - at_cpu, 0, sizeof(u32));
        std::memset(b.bytes.data() + b.bytes.size() - at_cpu, 0, sizeof(u32));
        ASSERT_EQ(a.bytes, b.bytes) << "seed " << seed;
      }
    }
  }
}

/// All that can be read of a world: counts, and buffers one after the other.
struct Outcome {
  std::vector<Reading> readings;
  std::vector<std::vector<std::byte>> buffers;
  bool operator==(const Outcome&) const = default;

  /// With what comes after it.
  void add(World& world) {
    readings = world.readings();
    const auto records = world.records();
    buffers.resize(records.size());
    for (std::size_t n = 0; n < records.size(); ++n)
      for (const RawRecord& record : records[n])
        buffers[n].insert(buffers[n].end(), record.bytes.begin(), record.bytes.end());
  }
};

Outcome outcome_of(u64 seed) {
  Dice dice(seed);
  World world;
  world.run(draw_program(dice, CPUS, Switching::at_random));
  Outcome outcome;
  outcome.add(world);
  return outcome;
}

/// (e) of a core that cannot be copied: whatever was read up to any step, the rest is the same.
TEST(Placements, GoOnTheSameFromAnyStepThatSomebodyLooksAt) {
  for (u64 seed = 0; seed < CASES; ++seed) {
    Dice dice(seed);
    const auto program = draw_program(dice, CPUS, Switching::at_random);
    const std::size_t from = dice.below(program.size());
    World looked_at;
    Outcome outcome;
    looked_at.run(std::span(program).first(from));
    outcome.add(looked_at);
    looked_at.run(std::span(program).subspan(from));
    outcome.add(looked_at);
    ASSERT_EQ(outcome, outcome_of(seed)) << "seed " << seed;
  }
}

/// (f)
TEST(Placements, OnSeveralHostThreadsAreThoseOfOne) {
  constexpr u64 host_threads = 2;
  std::vector<Outcome> at_once(CASES);
  std::vector<std::thread> threads;
  for (u64 thread = 0; thread < host_threads; ++thread)
    threads.emplace_back([&, thread] {
      for (u64 seed = thread; seed < CASES; seed += host_threads) at_once[seed] = outcome_of(seed);
    });
  for (std::thread& thread : threads) thread.join();
  for (u64 seed = 0; seed < CASES; ++seed) ASSERT_EQ(at_once[seed], outcome_of(seed)) << "seed " << seed;
}

/// (c)
TEST(Placements, OnTheFirstCpuAloneAreThoseOfOneCpu) {
  for (u64 seed = 0; seed < CASES / 4; ++seed) {
    Dice dice(seed);
    const auto program = draw_program(dice, 1, Switching::never);
    World one({0}), three;
    one.run(program);
    three.run(program);
    const auto of_one = one.records(), of_three = three.records();
    for (const std::size_t which : {0u, 1u}) {  // of the CPU, and of the first root there
      const auto &a = of_one[which], &b = of_three[which * CPUS];
      ASSERT_EQ(a.size(), b.size()) << "seed " << seed;
      for (std::size_t n = 0; n < a.size(); ++n) {
        const bool has_ids = a[n].type() == RecordType::throttle || a[n].type() == RecordType::unthrottle;
        ASSERT_TRUE(has_ids || a[n].bytes == b[n].bytes) << "seed " << seed;
      }
    }
    for (const std::size_t idle : {1u, 2u}) {
      ASSERT_TRUE(of_three[idle].empty()) << "seed " << seed;
      ASSERT_TRUE(of_three[CPUS + idle].empty()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace pmusim::perf

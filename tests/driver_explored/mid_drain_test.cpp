// SPDX-License-Identifier: MIT
// An event leaves while an interrupt drains the buffer of records: its task goes on at another CPU between
// any two accesses of the handler, or a sample of the drain itself stops it. Nothing of it is lost, and the
// drain that it has left has nothing to do with it any more.
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "buggy_cpu.h"
#include "driver/x86/event_data.h"
#include "other_cpu.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/arch/msr.h"
#include "rig.h"
#include "tests/support/quiet_sink.h"

namespace pmusim::driver::mid_drain_test {
namespace {

using perf::HardwareId;
using Direction = perf::PmuDriver::SwitchDirection;
using Steps = std::vector<std::function<void()>>;

constexpr perf::TaskId task{1, 1}, next_task{2, 2};

/// What the perf core of the first CPU sees of the task's event.
struct WatchfulSink final : QuietSink {
  const perf::Event* of_task = nullptr;
  bool is_away = false;         ///< the task has left this CPU
  bool stops_at_first = false;  ///< as where the event has had too many samples, or as many as it wants
  u64 count = 0, of_task_away = 0, of_task_stopped = 0;

  Verdict overflow(perf::Event& event, const perf::SampleData& data, const InterruptFrame& frame) override {
    output(event, data, frame);
    return &event == of_task && std::exchange(stops_at_first, false) ? Verdict::stop : Verdict::keep;
  }
  void output(perf::Event& event, const perf::SampleData&, const InterruptFrame&) override {
    ++count;
    if (&event != of_task) return;
    if (is_away) ++of_task_away;
    if (event.hw.stopped) ++of_task_stopped;
  }
};

/// When the first CPU lets go of the event of a task that goes on at the other: before that, or by a bug
/// while it is counted there already, or between two accesses of a handler.
enum class Leaving : u8 { in_time, too_late, in_the_handler };

/// One event of the CPU, and one of a task that comes, leaves, and comes again.
class Departure {
 public:
  /// `began` becomes true where the other CPU did something while a handler ran here.
  Departure(explore::Cpu& cpu, const Bug& bug, unsigned begin, bool& began, bool are_late)
      : cpu_(cpu),
        are_late_(are_late),
        begin_(begin),
        began_(began),
        here_(cpu, BuggyCpu(cpu, bug, [this] { meanwhile(); })),
        other_(cpu.pmu().model()),
        there_(other_, {}),
        of_cpu_(here_.sampling(HardwareId::cpu_cycles, interrupting)),
        of_task_(here_.sampling(HardwareId::branch_instructions, precise)) {
    sink_.of_task = &of_task_;
    here_.driver.attach(sink_);
  }

  void leave_in_mid_drain(Leaving leaving) {
    if (leaving == Leaving::in_the_handler) other_steps_.push_back([&] { here_.unschedule(of_task_); });
    other_steps_.insert(
        other_steps_.end(),
        {[&] { there_.driver.context_switch(Direction::in, task); }, [&] { there_.schedule(of_task_); },
         [&] { there_.branch(explored_period); }, [&] { there_.branch(explored_period); },
         [&] { there_.unschedule(of_task_); }, [&] { there_.driver.context_switch(Direction::out, task); }});
    cpu_.open();
    here_.schedule(of_cpu_);
    here_.driver.context_switch(Direction::in, task);
    here_.schedule(of_task_);
    if (leaving == Leaving::in_time) here_.unschedule(of_task_);
    here_.driver.context_switch(Direction::out, task);
    sink_.is_away = true;
    here_.driver.context_switch(Direction::in, next_task);
    here_.driver.read(of_cpu_);
    here_.driver.context_switch(Direction::out, next_task);
    if (leaving == Leaving::too_late) here_.unschedule(of_task_);
    while (done_ < other_steps_.size()) other_steps_[done_++]();
    sink_.is_away = false;
    stay(task);
    here_.unschedule(of_cpu_);
    cpu_.close();
    here_.check(there_.overflows.count == 2, "the other CPU's periods are not as long");
    here_.check(there_.samples.count == 2, "the other CPU lost a sample");
    here_.overflows.count += there_.overflows.count;
    check_end();
  }

  void be_stopped_in_mid_drain() {
    cpu_.open();
    here_.schedule(of_cpu_);
    here_.driver.context_switch(Direction::in, task);
    here_.schedule(of_task_);
    sink_.stops_at_first = true;
    here_.driver.read(of_cpu_);
    here_.driver.read(of_task_);
    if (of_task_.hw.stopped) expect_stopped();
    here_.unschedule(of_task_);
    sink_.stops_at_first = false;
    here_.driver.context_switch(Direction::out, task);
    stay(task);
    here_.unschedule(of_cpu_);
    cpu_.close();
    check_end();
  }

 private:
  void expect_stopped() {
    const u64 counter = bit(static_cast<unsigned>(data_of(of_task_).index));
    here_.check((cpu_.pmu().running_counters() & counter) == 0, "an event that has been stopped counts");
    here_.check((cpu_.pmu().rdmsr(msr::PEBS_ENABLE).value_or(0) & counter) == 0,
                "an event that has been stopped has records");
  }

  static void precise(perf::Attr& attr) { attr.precise_ip = 2; }
  /// At each record: beside it those of the other event do not gather in the buffer.
  static void interrupting(perf::Attr& attr) {
    precise(attr);
    attr.wakeup_events = 1;
  }

  void stay(perf::TaskId id) {
    here_.driver.context_switch(Direction::in, id);
    here_.schedule(of_task_);
    here_.unschedule(of_task_);
    here_.driver.context_switch(Direction::out, id);
  }

  /// Before each access of a handler here, behind `begin_` of them the other CPU does the next thing.
  void meanwhile() {
    if (is_busy_ || !sink_.is_away || accesses_++ < begin_ || done_ == other_steps_.size()) return;
    is_busy_ = began_ = true;
    other_steps_[done_++]();
    is_busy_ = false;
  }

  void check_end() {
    here_.check(sink_.of_task_away == 0, "a sample of an event that is on the other CPU");
    here_.check(sink_.of_task_stopped == 0, "a sample of an event that has been stopped");
    here_.samples.count = sink_.count + there_.samples.count;
    here_.check(are_late_ || here_.samples.count == here_.overflows.count, "not as many samples as periods");
    here_.check_end();
  }

  explore::Cpu& cpu_;
  bool are_late_;
  unsigned begin_, accesses_ = 0;
  bool& began_;
  bool is_busy_ = false;
  std::size_t done_ = 0;
  Steps other_steps_;
  WatchfulSink sink_;
  ExploredRig<IntelDriver, BuggyCpu> here_;
  Pmu other_;
  OtherCpu<IntelDriver> there_;
  perf::Event &of_cpu_, &of_task_;
};

/// Where interrupts come late, Linux leaves behind the one record of an event that is gone by then.
constexpr u32 at_once = 0, late = 4;

explore::Options one_overflow(u32 delay) {
  return {.most_pmis = 1, .causes = {explore::Cause::overflow}, .greatest_delay = delay};
}

/// The first that breaks something, wherever the other CPU begins; else all together.
Result<explore::Report, Error> departures(const Bug& bug, u32 delay, Leaving leaving = Leaving::in_time) {
  explore::Report all;
  bool begins = true;
  for (unsigned begin = 0; std::exchange(begins, false); ++begin) {
    auto report = explore::explore(
        Pmu(*find_cpu_model(bug.model)),
        [&](explore::Cpu& cpu) {
          Departure(cpu, bug, begin, begins, delay != 0).leave_in_mid_drain(leaving);
        },
        one_overflow(delay));
    if (!report.ok() || report->finding) return report;
    all.runs += report->runs;
    all.complete = all.complete && report->complete;
  }
  return all;
}

Result<explore::Report, Error> stops(const Bug& bug, u32 delay) {
  bool begins = false;
  return explore::explore(
      Pmu(*find_cpu_model(bug.model)),
      [&](explore::Cpu& cpu) { Departure(cpu, bug, 0, begins, delay != 0).be_stopped_in_mid_drain(); },
      one_overflow(delay));
}

/// Two with a debug store and one with architectural PEBS. Counters of earlier cores write a record one event
/// late, so that periods are not alike.
struct Explored {
  const char* model;
  u32 delay;
};
class InMidDrain : public testing::TestWithParam<Explored> {};
INSTANTIATE_TEST_SUITE_P(Models, InMidDrain,
                         testing::Values(Explored{"sapphirerapids", at_once},
                                         Explored{"sapphirerapids", late}, Explored{"lioncove", at_once},
                                         Explored{"lioncove", late}, Explored{"darkmont", at_once}));

void expect_nothing(const Result<explore::Report, Error>& report) {
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_FALSE(report->finding) << explore::text_of(*report->finding);
  EXPECT_TRUE(report->complete);
  EXPECT_GT(report->runs, 10u);
  testing::Test::RecordProperty("runs", std::to_string(report->runs));
}

TEST_P(InMidDrain, AnEventOfATaskThatHasLeftLosesNothing) {
  expect_nothing(departures({.model = GetParam().model}, GetParam().delay));
}

TEST_P(InMidDrain, AnEventThatIsStoppedLosesNothing) {
  expect_nothing(stops({.model = GetParam().model}, GetParam().delay));
}

// --- bugs between the driver and its registers

std::optional<u64> stays_enabled(const Access& a) {
  return a.in_handler && is_intel_select(a.address) && a.value != 0 ? a.value | msr::evtsel::EN : a.value;
}
std::optional<u64> select_not_written(const Access& a) {
  return a.in_handler && is_intel_select(a.address) ? std::nullopt : std::optional(a.value);
}
std::optional<u64> records_stay_enabled(const Access& a) {
  return a.in_handler && a.address == msr::PEBS_ENABLE ? std::nullopt : std::optional(a.value);
}
std::optional<u64> not_reloaded(const Access& a) {
  return a.in_handler && is_intel_counter(a.address) ? std::nullopt : std::optional(a.value);
}
std::optional<u64> index_stays(const Access& a) {
  return a.in_handler && a.address == msr::PEBS_INDEX ? std::nullopt : std::optional(a.value);
}
std::optional<u64> not_acknowledged(const Access& a) {
  return a.in_handler && a.address == msr::PERF_GLOBAL_STATUS_RESET ? a.value & ~msr::status::OVF_BUF
                                                                    : a.value;
}
u64 hides_the_buffer(const Access& a) {
  return a.address == msr::PERF_GLOBAL_STATUS ? a.value & ~msr::status::OVF_BUF : a.value;
}
bool loses_index(const Access& a) { return a.in_handler; }

constexpr Bug planted[] = {
    {.name = "a_counter_stays_enabled", .model = "darkmont", .on_write = stays_enabled},
    {.name = "a_counter_is_not_stopped", .model = "lioncove", .on_write = select_not_written},
    {.name = "records_stay_enabled", .model = "sapphirerapids", .on_write = records_stay_enabled},
    {.name = "the_counter_is_not_reloaded", .model = "darkmont", .on_write = not_reloaded},
    {.name = "records_are_taken_twice", .model = "darkmont", .on_write = index_stays},
    {.name = "records_are_taken_twice_from_memory", .model = "lioncove", .loses = loses_index},
    {.name = "the_buffer_is_not_acknowledged", .model = "lioncove", .on_write = not_acknowledged},
    {.name = "status_hides_the_buffer", .model = "sapphirerapids", .on_read = hides_the_buffer},
    {.name = "another_counter_is_read", .model = "darkmont", .on_rdpmc = neighbour},
};

class PlantedInMidDrain : public testing::TestWithParam<Bug> {};
INSTANTIATE_TEST_SUITE_P(Bugs, PlantedInMidDrain, testing::ValuesIn(planted),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(PlantedInMidDrain, IsFound) {
  const auto report = stops(GetParam(), at_once);
  ASSERT_TRUE(report.ok()) << report.error().message;
  ASSERT_TRUE(report->finding);
  EXPECT_FALSE(report->finding->seed.empty()) << "without any interrupt: " << report->finding->what;
}

// --- bugs of the perf core, as it takes the task away

class PlantedInDeparture : public testing::TestWithParam<Leaving> {};
INSTANTIATE_TEST_SUITE_P(Bugs, PlantedInDeparture,
                         testing::Values(Leaving::too_late, Leaving::in_the_handler));

TEST_P(PlantedInDeparture, IsFound) {
  for (const char* model : {"sapphirerapids", "lioncove", "darkmont"}) {
    const auto report = departures({.model = model}, at_once, GetParam());
    ASSERT_TRUE(report.ok()) << report.error().message;
    ASSERT_TRUE(report->finding) << model;
    EXPECT_FALSE(report->finding->seed.empty()) << "without any interrupt: " << report->finding->what;
  }
}

}  // namespace
}  // namespace pmusim::driver::mid_drain_test

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PERF_FAKE_DRIVER_H
#define PMUSIM_TESTS_PERF_FAKE_DRIVER_H

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "pmusim/perf/driver.h"

namespace pmusim::perf {

/// A PMU with `counters` equal counters whose events count what count() says.
class FakeDriver final : public PmuDriver {
 public:
  explicit FakeDriver(std::size_t counters = 4) : counters_(counters) {}

  /// `n` occurrences of everything that is on the PMU; overflows go to `sink`.
  void count(u64 n, SampleSink& sink, const InterruptFrame& frame) {
    const auto active = on_;
    for (Event* event : active) {
      if (event->hw.stopped) continue;
      event->count += n;
      if (!event->is_sampling()) continue;
      event->hw.period_left -= static_cast<i64>(n);
      if (event->hw.period_left > 0) continue;
      event->hw.last_period = event->hw.sample_period;
      SampleData data;
      data.period = event->hw.last_period;
      if (sink.overflow(*event, data, frame) == SampleSink::Verdict::stop) event->hw.stopped = true;
      event->hw.period_left += static_cast<i64>(event->hw.sample_period);
    }
  }
  const std::vector<Event*>& on() const { return on_; }
  std::vector<std::string> calls;  ///< context switches
  PmuCapabilities capable{};
  std::function<void(Event&)> on_remove = [](Event&) {};

  PmuCapabilities capabilities() const override { return capable; }
  Result<Done, KernelError> init(Event& event) override {
    if (event.attr.config == 0xbad) return Failure(KernelError(EINVAL, "config: bad"));
    ++opened;
    return Done{};
  }
  void destroy(Event&) override { --opened; }
  void disable() override {
    ++disabled;
    ++disabled_times;
  }
  void enable() override { --disabled; }
  void begin() override { mark_ = on_.size(); }
  bool commit() override { return true; }
  void cancel() override { on_.resize(mark_); }
  bool add(Event& event) override {
    if (on_.size() == counters_) return false;
    on_.push_back(&event);
    event.hw.stopped = false;
    return true;
  }
  void remove(Event& event) override {
    on_remove(event);
    std::erase(on_, &event);
    removed.push_back(&event);
  }
  void start(Event& event, StartMode mode) override {
    event.hw.stopped = false;
    if (mode == StartMode::reload && event.hw.period_left <= 0)
      event.hw.period_left = static_cast<i64>(event.hw.sample_period);
  }
  void stop(Event& event, StopMode) override { event.hw.stopped = true; }
  void read(Event&) override {}
  void read_member(Event& event) override { read_members.push_back(&event); }
  void context_switch(SwitchDirection direction, TaskId task) override {
    calls.push_back((direction == SwitchDirection::out ? "out " : "in ") + std::to_string(task.tid));
  }

  std::vector<const Event*> removed;  ///< in this order
  std::vector<const Event*> read_members;
  int opened = 0, disabled = 0;  ///< now
  int disabled_times = 0;        ///< ever

 private:
  std::size_t counters_;
  std::size_t mark_ = 0;
  std::vector<Event*> on_;
};

}  // namespace pmusim::perf

#endif

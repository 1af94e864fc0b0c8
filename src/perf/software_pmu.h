// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_SOFTWARE_PMU_H
#define PMUSIM_SRC_PERF_SOFTWARE_PMU_H

#include <optional>
#include <vector>

#include "pmusim/perf/driver.h"

namespace pmusim::perf {

/// The events that the kernel counts itself: clocks, context switches, page faults, dummy.
///
/// cpu-clock and task-clock count ns of perf time while they run and sample by a timer. The others count when
/// count() is called when they happen. There is room for any number of them.
class SoftwarePmu final : public PmuDriver {
 public:
  explicit SoftwarePmu(SampleSink& sink) : sink_(sink) {}

  /// `n` occurrences of `id`; `address` goes into samples (page faults).
  void count(SoftwareId id, u64 n, u64 address, const InterruptFrame& frame);
  /// When the next timer of a sampling clock event is due; nothing if there is none.
  std::optional<u64> next_timer() const;
  void run_timers(const InterruptFrame& frame);

  PmuCapabilities capabilities() const override;
  Result<Done, KernelError> init(Event& event) override;
  void destroy(Event&) override {}
  void disable() override {}
  void enable() override {}
  void begin() override {}
  bool commit() override { return true; }
  void cancel() override {}
  bool add(Event& event) override;
  void remove(Event& event) override;
  void start(Event& event, StartMode mode) override;
  void stop(Event& event, StopMode mode) override;
  void read(Event& event) override;
  void context_switch(SwitchDirection, TaskId) override {}

 private:
  void overflow(Event& event, u64 address, const InterruptFrame& frame);
  std::vector<Event*> active_;
  SampleSink& sink_;
};

}  // namespace pmusim::perf

#endif

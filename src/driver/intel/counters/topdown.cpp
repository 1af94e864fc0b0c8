// SPDX-License-Identifier: MIT
#include "driver/intel/counters/topdown.h"

#include <algorithm>
#include <cerrno>

#include "arch/perf_metrics.h"
#include "driver/intel/intel_driver.h"
#include "driver/x86/event_data.h"
#include "driver/x86/linux_changes.h"

namespace pmusim::driver {
namespace {

constexpr u64 event_and_umask = msr::evtsel::EVENT | msr::evtsel::UMASK;
constexpr u64 slots_code = 0x0400, first_metric = 0x8000, last_metric = 0x8700;

Failure<KernelError> refuse_topdown(const char* text) { return Failure(KernelError(EINVAL, text)); }

}  // namespace

bool is_slots(u64 config) { return (config & event_and_umask) == slots_code; }

bool is_metric(u64 config) {
  const u64 code = config & event_and_umask;
  return (code & msr::evtsel::EVENT) == 0 && code >= first_metric && code <= last_metric;
}

u64 topdown_increase(const perf::Event& event, TopdownReading before, TopdownReading now) {
  const unsigned n = counter_of(event);
  const auto part = [n](TopdownReading reading) {
    return counter::is_metric(n) ? metric_slots(reading.slots, reading.metrics, n - counter::METRICS)
                                 : reading.slots;
  };
  const u64 had = part(before), has = part(now);
  return has > had ? has - had : 0;
}

Result<Done, KernelError> check_topdown(perf::Event& event, const Enumeration& cpu,
                                        const ConstraintBook& constraints) {
  if ((cpu.perf_capabilities & msr::perf_cap::PERF_METRICS) == 0) return Done{};
  const u64 counters = constraints.find({.config = data_of(event).config & event_and_umask}).counters;
  const bool metric = is_metric(data_of(event).config) && (counters & counter::METRIC_BITS) != 0;
  if (!metric && !is_slots(data_of(event).config)) return Done{};
  if ((event.attr.config & ~event_and_umask) != 0)
    return refuse_topdown("config: topdown events take no filter bits");
  const bool clears = !metric && event.attr.config1 == 1 && perf::has(cpu.kernel, change::metrics_clear);
  if ((event.attr.config1 != 0 && !clears) || event.attr.config2 != 0)
    return refuse_topdown("config1: topdown events take no further configuration");
  if (clears) data_of(event).flags |= driver_flag::METRICS_CLEAR;
  if (!metric) return Done{};
  if (event.is_sampling()) return refuse_topdown("sample_period: a topdown metric cannot sample");
  if (event.is_leader() || !is_slots(data_of(*event.leader).config))
    return refuse_topdown("group_fd: topdown metrics need slots as their leader");
  if (event.leader->is_sampling())
    return refuse_topdown("group_fd: slots cannot sample while metrics are read with it");
  data_of(event).flags |= driver_flag::METRIC;
  event.member_only = true;
  return Done{};
}

bool has_metrics(const perf::Event& slots) {
  return std::ranges::any_of(slots.siblings,
                             [](const perf::Event* e) { return has_flag(*e, driver_flag::METRIC); });
}

}  // namespace pmusim::driver

// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cpu/clocks.h"
#include "session/call_tracker.h"
#include "session/monitored_cpu.h"

/// Call chains of samples from the calls and returns of the program.
namespace pmusim {

/// More than retire between a PEBS record and its interrupt.
constexpr std::size_t remembered_retirements = 1024;

void MonitoredCpu::use_call_stacks(const CallTracker& calls) {
  calls_ = &calls;
  retired_.resize(remembered_retirements);
}

void MonitoredCpu::note_retirement(const Retirement& retirement) {
  const u64 cycle = std::max(retirement.cycle + cycles_ahead_, pmu_.now());
  retired_[retirements_++ % retired_.size()] = {retirement.ip, cycle, calls_->before()};
}

/// The newest at this address, of those at this time if it is known.
const MonitoredCpu::Retired* MonitoredCpu::retired_at(u64 ip, std::optional<u64> time) const {
  const Clock tsc = tsc_clock(model().core);
  const u64 oldest = retirements_ - std::min<u64>(retirements_, retired_.size());
  for (u64 at = retirements_; at-- > oldest;) {
    const Retired& retired = retired_[at % retired_.size()];
    if (retired.ip == ip && (!time || clock_(tsc.ticks(retired.cycle)) <= *time)) return &retired;
  }
  return nullptr;
}

/// Nothing is known of the stack of a record that has waited too long for its interrupt.
std::optional<std::vector<u64>> MonitoredCpu::callers(const perf::SampledPlace& place,
                                                      std::size_t limit) const {
  if (calls_ == nullptr) return std::nullopt;
  const bool recorded_before = place.ip && (place.time || *place.ip != place.interrupted_ip);
  if (!recorded_before) return calls_->callers_at(place.interrupted_ip, limit);
  const Retired* const retired = retired_at(*place.ip, place.time);
  if (retired != nullptr) return calls_->callers(retired->stack, limit).value_or(std::vector<u64>{});
  if (*place.ip == place.interrupted_ip) return calls_->callers_at(place.interrupted_ip, limit);
  return std::vector<u64>{};
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
// Periods and counts: what a counter is preset to, and what its value means later
// (x86_perf_event_set_period, x86_perf_event_update).
#include <algorithm>

#include "driver/intel/cores/core_traits.h"
#include "driver/intel/counters/topdown.h"
#include "driver/intel/intel_driver.h"
#include "driver/intel/scheduling/acr_group.h"
#include "driver/x86/linux_changes.h"
#include "driver/x86/period.h"
#include "perf/context.h"

namespace pmusim::driver {
namespace {

using perf::Event;

i64 haswell_limit(bool distributed, i64 left) { return std::max<i64>(left, distributed ? 128 : 32); }

/// The counter's low bits are not reliable for this event.
i64 broadwell_limit(bool distributed, i64 left) {
  return distributed ? std::max<i64>(left, 128) & ~i64{0x3F} : left;
}

}  // namespace

u64 IntelDriver::max_period() const {
  const bool full_width = (cpu_.perf_capabilities & msr::perf_cap::FW_WRITE) != 0;
  return low_bits(full_width ? cpu_.counter_width - 1 : 31);
}

i64 IntelDriver::limit_period(const Event& event, i64 left) const {
  constexpr u64 prec_dist = 0x01C0;
  const bool distributed = (data_of(event).config & (msr::evtsel::EVENT | msr::evtsel::UMASK)) == prec_dist;
  switch (traits_->period) {
    case PeriodRule::none:
      return left;
    case PeriodRule::nehalem:
      return std::max<i64>(left, 32);
    case PeriodRule::haswell:
      return haswell_limit(distributed, left);
    case PeriodRule::broadwell:
      return broadwell_limit(distributed, left);
    case PeriodRule::reduced_skid:
      return event.attr.precise_ip == 3 ? std::max<i64>(left, 128) : left;
  }
  return left;
}

/// Slots count up from zero where metrics divide them up, from a preset elsewhere. A metric can join a group
/// that counts already, so this is for each start to decide.
void IntelDriver::choose_slots_mode(Event& event) {
  if (!is_slots(data_of(event).config)) return;
  data_of(event).flags &= ~driver_flag::SLOTS_WITH_METRICS;
  if (has_metrics(event)) data_of(event).flags |= driver_flag::SLOTS_WITH_METRICS;
}

/// Presets the counter to what is left of the period. True if the previous period has expired.
bool IntelDriver::set_period(Event& event) {
  perf::HardwareEvent& hw = event.hw;
  const EventData& data = data_of(event);
  if ((data.flags & driver_flag::COUNTERLESS) != 0) return false;
  choose_slots_mode(event);
  if ((data.flags & driver_flag::TOPDOWN) != 0) {
    begin_topdown(event);
    return false;
  }
  const NextInterval next = next_interval(hw, max_period());
  // A counter that another one has reloaded seems to have run backwards, once around.
  if (in_interrupt_ && data.reload_causes == 0) statistics_.merged_overflows += next.passed_over;
  hw.previous_count = (0 - static_cast<u64>(limit_period(event, next.left))) & cpu_.counter_mask();
  counters_.write(counter_of(event), hw.previous_count);
  return next.expired;
}

/// Folds what the counter counted since the last look into the event.
void IntelDriver::update(Event& event) {
  const EventData& data = data_of(event);
  if ((data.flags & driver_flag::COUNTERLESS) != 0) return;  // a trace's records are its count
  if ((data.flags & driver_flag::TOPDOWN) != 0) {
    update_topdown(&event);
    return;
  }
  count_up_to(event, cpu_.counter_mask(), [&] { return counters_.read(counter_of(event)); });
}

bool IntelDriver::save_and_restart(Event& event) {
  update(event);
  if (has_flag(event, driver_flag::CHECKPOINTED)) {
    // A counter near its overflow would abort the same transaction for ever.
    counters_.write(counter_of(event), 0);
    event.hw.previous_count = 0;
  }
  return set_period(event);
}

/// `visit` slots and the metrics that count.
template <class Visit>
void IntelDriver::for_each_topdown(Visit visit) {
  const auto visit_counting = [&](Event* event) {
    if (event != nullptr && !event->hw.stopped) visit(*event);
  };
  visit_counting(owners_[counter::SLOTS]);
  for (Event* metric : metrics_) visit_counting(metric);
}

bool IntelDriver::other_topdown_counts(const Event& event) {
  bool any = false;
  for_each_topdown([&](const Event& other) { any = any || &other != &event; });
  return any;
}

TopdownReading IntelDriver::read_topdown() {
  const u64 slots = counters_.read(counter::SLOTS);
  return {.slots = slots, .metrics = slots != 0 ? access_.read(msr::PERF_METRICS) : 0};
}

/// PERF_METRICS has eight bits per metric, relative to all slots since both were cleared. Slots goes first,
/// by the address that it has in all versions; a non-zero slots beside zero metrics would make the ratio
/// meaningless.
void IntelDriver::write_topdown(TopdownReading values) {
  access_.wrmsr(msr::FIXED_CTR0 + (counter::SLOTS - counter::FIXED), values.slots);
  access_.wrmsr(msr::PERF_METRICS, values.metrics);
  for_each_topdown([&](Event& event) { data_of(event).topdown = values; });
}

/// Of all that count, and of one that has just stopped. False: there were no slots.
bool IntelDriver::count_topdown(Event* stopped) {
  const TopdownReading now = read_topdown();
  if (now.slots == 0) return false;
  const auto count = [&](Event& event) {
    std::optional<TopdownReading>& seen = data_of(event).topdown;
    event.count += topdown_increase(event, seen.value_or(TopdownReading{}), now);
    seen = now;
  };
  for_each_topdown(count);
  if (stopped != nullptr) count(*stopped);
  return true;
}

/// For one that is asked for, or for none in an interrupt. One that stops leaves the registers as they are
/// (Linux: intel_update_topdown_event).
void IntelDriver::update_topdown(Event* asked) {
  const bool stops = asked != nullptr && asked->hw.stopped;
  if (count_topdown(stops ? asked : nullptr) && !stops) write_topdown({});
}

/// Each event clears both as it starts for the first time. Later they go on from where they were as slots
/// stopped, so that shares of little do not lose what is below their precision (Linux:
/// icl_set_topdown_event_period).
void IntelDriver::begin_topdown(Event& event) {
  std::optional<TopdownReading>& seen = data_of(event).topdown;
  if (!seen) {
    count_topdown(nullptr);
    write_topdown(seen.emplace());
  } else if (seen->slots != 0 && is_slots(data_of(event).config)) {
    write_topdown(*seen);
  } else {
    seen = read_topdown();
  }
}

/// Counts of a task are not worth hiding: they do not stay behind when it leaves the CPU.
bool IntelDriver::hidden_from_user(const Event& event) const {
  constexpr u32 can_be_hidden = 1u << 2;  // CPUID.23H.0:EBX
  if ((cpu_.perfmon_ext & can_be_hidden) == 0 || !has(options_.kernel, change::rdpmc_user_disable))
    return false;
  const bool of_task = event.context != nullptr && event.context->task() != nullptr;
  return options_.rdpmc == RdpmcSetting::never || (options_.rdpmc == RdpmcSetting::own_task && !of_task);
}

namespace {

/// The low half of CFG_C serves reloads by other counters and by arch-PEBS alike.
u64 reload_value(const Event& event) { return (0 - event.hw.sample_period) & pebs::cfg_c::RELOAD; }

/// A member whose leader was closed is in no such group any more.
u64 reload_causes(const Event& event) { return in_acr_group(event) ? data_of(event).reload_causes : 0; }

}  // namespace

void IntelDriver::enable_event(Event& event) {
  const EventData& data = data_of(event);
  const auto n = counter_of(event);
  if (counter::is_metric(n) && other_topdown_counts(event)) return;
  const unsigned counter = counter::is_metric(n) ? counter::SLOTS : n;
  if (event.attr.exclude_host) counters_.withhold(counter);
  if (event.attr.exclude_guest) counters_.keep_from_guests(counter);
  if (n == counter::GUEST_LBR) return;
  if (counter::is_metric(n)) {
    counters_.start(counter::SLOTS, data.config);
    return;
  }
  if ((data.flags & driver_flag::BRANCH_TRACE) != 0) {
    bts_.enable(event);
    if (enabled_) bts_.start();
    return;
  }
  u64 select = data.config;
  if (hidden_from_user(event)) select |= msr::evtsel::RDPMC_USR_DISABLE;
  // The control bit that is AnyThread of other fixed counters.
  if ((data.flags & driver_flag::METRICS_CLEAR) != 0) select |= msr::evtsel::ANY;
  if ((data.flags & pebs_flag::PRECISE) != 0) {
    const bool adaptive = pebs_.enable(event, owners_);
    select &= ~msr::evtsel::INT;
    if (adaptive) select |= msr::evtsel::ADAPTIVE;
    if (enabled_) pebs_.write_enable();
  }
  program_reload(event);
  if (cpu_.arch_pebs()) program_record_config(event);
  // A counter that reloads itself sets no status bit: its interrupt would be one that nobody explains.
  if ((reload_causes(event) & bit(n)) != 0) select &= ~msr::evtsel::INT;
  if (data.extra_register != 0) access_.wrmsr(data.extra_register, data.extra_config);
  counters_.start(n, select);
}

/// CFG_B, and the low half of CFG_C on its own.
void IntelDriver::program_reload(const Event& event) {
  const auto n = counter_of(event);
  const u64 causes = reload_causes(event);
  counters_.set_reload_causes(n, causes);
  if (causes != 0) counters_.set_reload_value(n, reload_value(event));
}

/// CFG_C as a whole, and what the buffer needs to take the event's records.
void IntelDriver::program_record_config(const Event& event) {
  const u64 of_group = cpu_.acr_cause != 0 && in_acr_group(event) ? reload_value(event) : 0;
  const u64 of_records = pebs_.start_records(event, owners_);
  counters_.set_reload_config(counter_of(event), of_records | of_group);
}

void IntelDriver::disable_event(Event& event) {
  const auto n = counter_of(event);
  if (n == counter::GUEST_LBR) return;
  if (has_flag(event, driver_flag::BRANCH_TRACE)) {
    bts_.stop();
    bts_.drain(*sink_, nullptr);
    bts_.disable();
    return;
  }
  // A counter that is nobody's must not show in records.
  if (cpu_.arch_pebs() && !counter::is_metric(n) && counts_from_records(event))
    counters_.set_reload_config(n, 0);
  // The slots counter runs until the last one stops that needs it.
  const bool needed = (counter::is_metric(n) || n == counter::SLOTS) && other_topdown_counts(event);
  if (!needed) counters_.stop(counter::is_metric(n) ? counter::SLOTS : n);
  if (counter::is_metric(n)) return;
  if (!has_flag(event, pebs_flag::PRECISE)) return;
  pebs_.disable(event, owners_);
  if (enabled_) pebs_.write_enable();
}

}  // namespace pmusim::driver

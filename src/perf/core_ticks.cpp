// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "perf/frequency.h"
#include "perf/linux_core.h"
#include "perf/throttle.h"

/// What the passing of time does.
namespace pmusim::perf {

void LinuxCore::set_time(CpuContext& cpu, u64 now) { cpu.time = std::max(cpu.time, now); }

u64 LinuxCore::next_deadline(const CpuContext& cpu) const {
  const u64 tick = (cpu.ticks + 1) * options_.tick_ns;
  return std::min(tick, cpu.software.next_timer().value_or(tick));
}

void LinuxCore::advance(CpuContext& cpu, u64 now, const InterruptFrame& frame) {
  while (next_deadline(cpu) <= now) {
    set_time(cpu, next_deadline(cpu));
    cpu.software.run_timers(frame);
    if (cpu.time >= (cpu.ticks + 1) * options_.tick_ns) tick(cpu);
    run_deferred(cpu);
  }
  set_time(cpu, now);
  run_deferred(cpu);
}

void LinuxCore::run_deferred(CpuContext& cpu) {
  while (!cpu.to_disable.empty()) {
    Event& event = *cpu.to_disable.back();
    cpu.to_disable.pop_back();
    disable(event, Scope::event);
  }
}

namespace {

bool is_steered(const Event& event) { return event.attr.freq != 0 && event.is_sampling(); }

}  // namespace

/// Unthrottles, steers frequencies, and gives other events their turn. The PMU runs on where there is none.
void LinuxCore::tick(CpuContext& cpu) {
  ++cpu.ticks;
  const bool throttled_one = std::exchange(cpu.throttled_since_tick, false);
  for (Context* const context : {&cpu.context(), cpu.scheduler.task()})
    for (const u32 place : context != nullptr ? context->pmus() : std::vector<u32>{})
      tick(cpu, *context, place, throttled_one);
  for (const auto& event : events_)
    if (event->mapped && &cpu_of(*event) == &cpu) update_page(*event);
  if (cpu.ticks % options_.rotation_ticks == 0) cpu.scheduler.rotate();
}

/// Leaders only: members of groups are not steered by ticks, and where a member was throttled alone it stays
/// so until its group comes back (Linux: perf_adjust_freq_unthr_events).
void LinuxCore::tick(CpuContext& cpu, Context& context, u32 place, bool throttled_one) {
  std::vector<Event*> active;
  for (Event* const event : context.events())
    if (event->state == EventState::active && turn_of(*event->leader) == place) active.push_back(event);
  if (active.empty() ||
      !(throttled_one || std::ranges::any_of(active, [](const Event* e) { return is_steered(*e); })))
    return;
  cpu.pmus.disable({&place, 1});
  for (Event* const event : active) {
    if (!event->is_leader() || event->state != EventState::active) continue;
    if (event->hw.interrupts == throttled) unthrottle(cpu, *event);
    if (is_steered(*event)) adjust_on_tick(*event);
  }
  cpu.pmus.enable({&place, 1});
}

/// In frequency mode the tick restarts the event anyway.
void LinuxCore::unthrottle(CpuContext& cpu, Event& event) {
  for_throttled(event, throttle_scope(), [&](Event& member) {
    member.hw.interrupts = 0;
    if (&member != &event || !event.attr.freq) member.pmu->start(member, PmuDriver::StartMode::keep_period);
    log_throttle(cpu, member, RecordType::unthrottle);
  });
}

void LinuxCore::adjust_on_tick(Event& event) {
  event.pmu->stop(event, PmuDriver::StopMode::update);
  const u64 counted = event.count - event.hw.frequency_count_stamp;
  event.hw.frequency_count_stamp = event.count;
  if (counted > 0) adjust_period(event, options_.tick_ns, counted);
  event.pmu->start(event, counted > 0 ? PmuDriver::StartMode::reload : PmuDriver::StartMode::keep_period);
}

/// When the rate falls steeply the rest of a much too long period is given up. The driver takes the new
/// values when it programs the next period: after the overflow that asks, or at the restart of the tick.
void LinuxCore::adjust_period(Event& event, u64 ns, u64 count) {
  HardwareEvent& hw = event.hw;
  hw.sample_period = next_period(hw.sample_period, target_period(count, ns, event.attr.sample_period));
  if (hw.period_left > static_cast<i64>(8 * hw.sample_period)) hw.period_left = 0;
}

}  // namespace pmusim::perf

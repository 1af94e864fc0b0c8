// SPDX-License-Identifier: MIT
#include "capi/exact_count.h"

#include <fmt/format.h>

#include "capi/cpu.h"

namespace pmusim::capi {

namespace {

/// The fixed counter that an event select without an event number stands for, as perf writes it.
std::optional<unsigned> fixed_counter_of(u64 select) {
  const u64 umask = select >> 8 & 0xFF;
  if ((select & 0xFF) != 0 || umask == 0 || umask > 16) return std::nullopt;
  return static_cast<unsigned>(umask - 1);
}

u64 fixed_control(u64 select, unsigned counter) {
  const u64 rings =
      ((select & msr::evtsel::OS) != 0 ? 1u : 0u) | ((select & msr::evtsel::USR) != 0 ? 2u : 0u);
  return rings << 4 * counter;
}

bool can_count(const CpuModel& model, const TrueEvent& event, std::optional<unsigned> fixed) {
  return fixed ? find_fixed_event(model, *fixed).has_value()
               : selected_event(model, event.select, event.extra).has_value() ||
                     selected_event(model, event.select).has_value();
}

}  // namespace

ExactCount::ExactCount(const CpuModel& model, const TrueEvent& event, u64 now) : pmu_(model) {
  pmu_.wait_until(now, {.cpl = Cpl::kernel});
  if (!can_count(model, event, fixed_counter_of(event.select)))
    throw Misuse(fmt::format("{} cannot count event select {:#x}", model.name, event.select));
  program(event);
  pmu_.set_observer(this);
}

ExactCount::ExactCount(const ExactCount& other)
    : pmu_(other.pmu_), counter_register_(other.counter_register_), wraps_(other.wraps_) {
  pmu_.set_observer(this);
}

void ExactCount::write(u32 address, u64 value, const TrueEvent& event) {
  if (const Fault fault = pmu_.wrmsr(address, value); fault != Fault::none)
    throw Misuse(fmt::format("event select {:#x}: writing {:#x} to register {:#x} of {} raises {}",
                             event.select, value, address, pmu_.model().name, name_of(fault)));
}

// Without PERF_GLOBAL_CTRL (perfmon 1), the enable bit of the select is all there is.
void ExactCount::program(const TrueEvent& event) {
  if (event.extra_register != 0) write(event.extra_register, event.extra, event);
  const auto fixed = fixed_counter_of(event.select);
  u64 enabled = 1;
  if (fixed) {
    write(msr::FIXED_CTR_CTRL, fixed_control(event.select, *fixed), event);
    counter_register_ = msr::FIXED_CTR0 + *fixed;
    enabled = bit(32 + *fixed);
  } else {
    write(msr::PERFEVTSEL0, (event.select | msr::evtsel::EN) & ~u64{msr::evtsel::INT}, event);
  }
  if (pmu_.registers().find(msr::PERF_GLOBAL_CTRL) != nullptr) write(msr::PERF_GLOBAL_CTRL, enabled, event);
}

u64 ExactCount::count() {
  const FaultOr<u64> value = pmu_.rdmsr(counter_register_);
  return (wraps_ << pmu_.model().counter_width) + value.value_or(0);
}

}  // namespace pmusim::capi

using namespace pmusim;
using capi::changeable;
using capi::guarded;
using capi::Misuse;
using capi::require;

int pmusim_truth_begin(pmusim_cpu* cpu, uint64_t event_select, uint32_t extra_register, uint64_t extra,
                       uint32_t* number) {
  return guarded("pmusim_truth_begin", [&] {
    u32& out = require(number, "number");
    out = changeable(cpu).begin_exact_count(
        {.select = event_select, .extra_register = extra_register, .extra = extra});
    return PMUSIM_OK;
  });
}

int pmusim_truth(pmusim_cpu* cpu, uint32_t number, uint64_t* count) {
  return guarded("pmusim_truth", [&] {
    u64& out = require(count, "count");
    const auto exact_counts = require(cpu, "cpu").exact_counts();
    if (number >= exact_counts.size())
      throw Misuse(fmt::format("number is {}: expected one that pmusim_truth_begin gave", number));
    out = exact_counts[number]->count();
    return PMUSIM_OK;
  });
}

static_assert(PMUSIM_ASSIST_PROCESSOR_TRACE == static_cast<int>(AssistOutcome::processor_trace) &&
              PMUSIM_ASSIST_PROCESSOR_TRACE + 1 == static_cast<int>(AssistOutcome::count_) &&
              PMUSIM_ASSIST_UNMAPPED == static_cast<int>(AssistOutcome::unmapped));

int pmusim_assists(const pmusim_cpu* cpu, int outcome, uint64_t* count) {
  return guarded("pmusim_assists", [&] {
    u64& out = require(count, "count");
    if (outcome < 0 || outcome > PMUSIM_ASSIST_PROCESSOR_TRACE)
      throw Misuse(fmt::format("{} is none of pmusim_assist_outcome", outcome));
    out = require(cpu, "cpu").pmu().assists(static_cast<AssistOutcome>(outcome));
    return PMUSIM_OK;
  });
}

int pmusim_acr_reloads(const pmusim_cpu* cpu, uint32_t counter, uint64_t* count) {
  return guarded("pmusim_acr_reloads", [&] {
    u64& out = require(count, "count");
    const u64 counters = require(cpu, "cpu").pmu().model().counters();
    if (counter >= 64 || (counters & bit(counter)) == 0)
      throw Misuse(fmt::format("{} has no counter {}; its mask of counters is {:#x}", cpu->pmu().model().name,
                               counter, counters));
    out = cpu->pmu().acr_reload_count(counter);
    return PMUSIM_OK;
  });
}

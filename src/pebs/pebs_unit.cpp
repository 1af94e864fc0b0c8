// SPDX-License-Identifier: MIT
#include "pebs/pebs_unit.h"

#include "cpu/front_end.h"
#include "pmusim/arch/debug_store.h"
#include "record.h"

namespace pmusim {

namespace {

bool matches_frontend(u64 filter, const Retirement& retirement, unsigned issue_width) {
  if (front_end::selects_latency(filter))
    return retirement.quantities[static_cast<unsigned>(Quantity::slots_fetch_latency)] >=
           front_end::latency_slots(filter, issue_width);
  switch (field(filter, 4, 0)) {
    case 0x11:
      return retirement.signals.has(Signal::dsb_miss);
    case 0x12:
      return retirement.signals.has(Signal::l1i_miss);
    case 0x13:
      return retirement.signals.has(Signal::l2i_miss);
    case 0x14:
      return retirement.signals.has(Signal::itlb_miss);
    case 0x15:
      return retirement.signals.has(Signal::stlb_instruction_miss);
    default:
      return true;
  }
}

/// Parts without adaptive PEBS sample only events that instructions raise as they retire. Atoms since
/// Goldmont take any event: the next instruction that retires has the record (SDM vol. 3, Goldmont PEBS).
bool can_sample(unsigned counter, const CounterFile& counters) {
  const CpuModel& model = counters.model();
  const bool any_event = model.core_type == CoreType::atom && pebs::has_own_status(model.pebs.format);
  if (any_event || model.pebs.baseline || (model.pebs.counters >> 32) != 0 || counter >= first_fixed)
    return true;
  const auto event = counters.event(counter);
  return event && (event->rule.quantity == Quantity::none || event->rule.quantity == Quantity::uops);
}

}  // namespace

u64 PebsUnit::arm(u64 overflowed, const CounterFile& counters, u64 cycle) {
  u64 armed = 0;
  for (const unsigned counter : set_bits(overflowed & enabled(counters) & ~overflowed_)) {
    if (!can_sample(counter, counters)) continue;
    armed |= bit(counter);
    overflow_cycle_[counter] = cycle;
  }
  overflowed_ |= armed;
  fresh_ |= armed;
  return armed;
}

void PebsUnit::follow_enables(const CounterFile& counters) {
  const u64 all = overflowed_ | held_;
  if (all == 0) return;
  overflowed_ = all & enabled(counters);
  held_ = all & ~overflowed_;
}

bool PebsUnit::precise_distribution(unsigned counter, const CounterFile& counters) const {
  if ((model_->pebs.distribution & bit(counter)) == 0) return false;
  const bool any_event = !pebs::is_fixed(model_->pebs.format) || model_->core_type == CoreType::atom;
  constexpr u64 inst_retired_prec_dist = 0x01C0;
  return any_event || (counters.event_select(counter) & bits(15, 0)) == inst_retired_prec_dist;
}

bool PebsUnit::qualifies(unsigned counter, const Retirement& retirement, const CounterFile& counters) const {
  if (counter >= first_fixed) return true;
  const u64 select = counters.event_select(counter);
  if (front_end::is_filtered(*model_, select & msr::evtsel::EVENT))
    return matches_frontend(frontend_, retirement, model_->core.issue_width);
  if (pebs::memory_facility(counters, counter, pebs_enable_) == pebs::MemoryFacility::load_latency)
    return pebs::longest_load(retirement, latency_threshold_) != nullptr;
  return true;
}

u64 PebsUnit::due(u64 occurred, const Retirement& retirement, const CounterFile& counters) {
  u64 ready = 0, close = 0;
  for (const unsigned counter : set_bits(overflowed_ & occurred)) {
    const bool exact = precise_distribution(counter, counters);
    const bool overflowed_here = (fresh_ & bit(counter)) != 0 && overflow_cycle_[counter] == retirement.cycle;
    if (overflowed_here && !exact) continue;
    if (!qualifies(counter, retirement, counters)) continue;
    const u64 armed_cycle = overflow_cycle_[counter] + (exact ? 0 : model_->policies.pebs_arm_cycles);
    if (retirement.cycle >= armed_cycle)
      ready |= bit(counter);
    else if (retirement.cycle + model_->policies.pebs_merge_cycles >= armed_cycle)
      close |= bit(counter);
  }
  fresh_ = 0;
  return ready != 0 ? ready | close : 0;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "core/pipeline.h"

#include <algorithm>

namespace pmusim {
namespace {

void add(Quantities& quantities, Quantity which, u64 value) {
  quantities[static_cast<unsigned>(which)] += static_cast<u32>(value);
}

// Cycles that lie wholly between two slots.
u64 whole_cycles(const Slot& from, const Slot& to) {
  const u64 first = from.index() == 0 ? from.cycle() : from.cycle() + 1;
  return to.cycle() > first ? to.cycle() - first : 0;
}

void charge_stall_cycles(u64 stalled, u64 waiting, WaitingFor reason, Quantities& quantities) {
  add(quantities, Quantity::stall_cycles, stalled);
  if (reason >= WaitingFor::l1) add(quantities, Quantity::stall_cycles_memory, waiting);
  if (reason >= WaitingFor::l2) add(quantities, Quantity::stall_cycles_l1_miss, waiting);
  if (reason >= WaitingFor::l3) add(quantities, Quantity::stall_cycles_l2_miss, waiting);
  if (reason >= WaitingFor::memory) add(quantities, Quantity::stall_cycles_l3_miss, waiting);
}

}  // namespace

Pipeline::Pipeline(const CoreParameters& p)
    : width_(p.issue_width),
      reference_numerator_(p.tsc_per_core_cycle_numerator),
      reference_denominator_(p.tsc_per_core_cycle_denominator),
      retired_cycles_(std::bit_ceil(2 * std::size_t{p.reorder_buffer_uops})),
      retired_mask_(retired_cycles_.size() - 1),
      reorder_buffer_uops_(p.reorder_buffer_uops),
      load_buffer_(p.load_buffer_entries) {}

u64 Pipeline::slots_between(const Slot& from, const Slot& to) const {
  return to > from ? (to.cycle() - from.cycle()) * width_ + to.index() - from.index() : 0;
}

void Pipeline::stall_fetch(u64 cycle) {
  hold(cycle);
  fetched_cycle_ = std::max(fetched_cycle_, cycle);
}

void Pipeline::refill(u64 cycle, Refill reason) {
  hold(cycle);
  refilled_cycle_ = std::max(refilled_cycle_, cycle);
  refill_reason_ = reason;
}

void Pipeline::charge_lost_slots(const Passage& passage, Quantities& quantities) const {
  const Slot &before = passage.before, &first = passage.first;
  const Slot refilled = std::clamp(Slot{passage.refilled_cycle, 0}, before, first);
  const Slot fetched = std::clamp(Slot{passage.fetched_cycle, 0}, refilled, first);
  const u64 bad_speculation = slots_between(before, refilled);
  const u64 frontend = slots_between(refilled, fetched);
  const u64 backend = slots_between(fetched, first);
  add(quantities, Quantity::slots_bad_speculation, bad_speculation);
  if (passage.refill_reason == Refill::mispredict)
    add(quantities, Quantity::slots_branch_mispredict, bad_speculation);
  add(quantities, Quantity::slots_frontend, frontend);
  const u64 starved = whole_cycles(refilled, fetched);
  add(quantities, Quantity::starved_cycles, starved);
  if (refilled > before) add(quantities, Quantity::clear_resteer_cycles, starved);
  add(quantities, Quantity::slots_fetch_latency, starved * width_);
  add(quantities, Quantity::slots_fetch_bandwidth, frontend - starved * width_);
  add(quantities, Quantity::slots_backend, backend);
  if (passage.reason != WaitingFor::execution) add(quantities, Quantity::slots_memory, backend);
  add(quantities, Quantity::recovery_cycles, whole_cycles(before, refilled));
  const Slot waiting_from = std::clamp(passage.dispatched, fetched, first);
  charge_stall_cycles(whole_cycles(before, first), whole_cycles(waiting_from, first), passage.reason,
                      quantities);
}

void Pipeline::account_time(u64 since, u64 until, Quantities& quantities) const {
  if (since == until) return;
  add(quantities, Quantity::cycles, until - since);
  add(quantities, Quantity::slots, (until - since) * width_);
  add(quantities, Quantity::reference_cycles,
      until * reference_numerator_ / reference_denominator_ -
          since * reference_numerator_ / reference_denominator_);
}

}  // namespace pmusim

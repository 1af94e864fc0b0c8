// SPDX-License-Identifier: MIT
#include "core/pipeline.h"

#include <algorithm>

namespace pmusim {
namespace {

void set(Quantities& quantities, Quantity which, u64 value) {
  quantities[static_cast<unsigned>(which)] = static_cast<u32>(value);
}

// Cycles that lie wholly between two slots.
u64 whole_cycles(const Slot& from, const Slot& to) {
  const u64 first = from.index() == 0 ? from.cycle() : from.cycle() + 1;
  return to.cycle() > first ? to.cycle() - first : 0;
}

void charge_stall_cycles(u64 stalled, u64 waiting, WaitingFor reason, Quantities& quantities) {
  set(quantities, Quantity::stall_cycles, stalled);
  if (reason >= WaitingFor::l1) set(quantities, Quantity::stall_cycles_memory, waiting);
  if (reason >= WaitingFor::l2) set(quantities, Quantity::stall_cycles_l1_miss, waiting);
  if (reason >= WaitingFor::l3) set(quantities, Quantity::stall_cycles_l2_miss, waiting);
  if (reason >= WaitingFor::memory) set(quantities, Quantity::stall_cycles_l3_miss, waiting);
}

}  // namespace

Pipeline::Pipeline(const CoreParameters& p)
    : width_(p.issue_width),
      reference_numerator_(p.tsc_per_core_cycle_numerator),
      reference_denominator_(p.tsc_per_core_cycle_denominator),
      reorder_buffer_(p.reorder_buffer_uops),
      load_buffer_(p.load_buffer_entries) {}

Slot Pipeline::advance(Slot slot, unsigned uops) const {
  const unsigned index = slot.index() + uops;
  if (index < width_) return {slot.cycle(), index};
  if (index < 2 * width_) return {slot.cycle() + 1, index - width_};
  return {slot.cycle() + index / width_, index % width_};
}

u64 Pipeline::slots_between(const Slot& from, const Slot& to) const {
  return to > from ? (to.cycle() - from.cycle()) * width_ + to.index() - from.index() : 0;
}

void Pipeline::hold(u64 cycle) {
  if (cycle > dispatch_.cycle()) dispatch_ = {cycle, 0};
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

Pipeline::Dispatched Pipeline::dispatch(unsigned uops) {
  if (uops == 0) return {last_.first, last_.last_cycle, 0};
  // The uop that leaves the reorder buffer to make place for the last of these.
  const std::size_t size = reorder_buffer_.size();
  std::size_t leaving = oldest_ + std::min<std::size_t>(uops, size) - 1;
  if (leaving >= size) leaving -= size;
  hold(reorder_buffer_[leaving] + 1);

  const Slot first = dispatch_;
  dispatch_ = advance(first, uops);
  // Member by member: what has just been written in halves is slow to copy as a whole.
  const u64 last_cycle = dispatch_.index() == 0 ? dispatch_.cycle() - 1 : dispatch_.cycle();
  last_.first = first;
  last_.last_cycle = last_cycle;
  last_.uops = uops;
  return {first, last_cycle, uops};
}

void Pipeline::remember(unsigned uops, u64 cycle) {
  for (std::size_t left = std::min<std::size_t>(uops, reorder_buffer_.size()); left > 0; --left) {
    reorder_buffer_[oldest_] = cycle;
    if (++oldest_ == reorder_buffer_.size()) oldest_ = 0;
  }
}

void Pipeline::charge_lost_slots(const Dispatched& dispatched, const Slot& first, WaitingFor reason,
                                 Quantities& quantities) const {
  const Slot refilled = std::clamp(Slot{refilled_cycle_, 0}, retire_, first);
  const Slot fetched = std::clamp(Slot{fetched_cycle_, 0}, refilled, first);
  const u64 bad_speculation = slots_between(retire_, refilled);
  const u64 frontend = slots_between(refilled, fetched);
  const u64 backend = slots_between(fetched, first);
  set(quantities, Quantity::slots_bad_speculation, bad_speculation);
  if (refill_reason_ == Refill::mispredict)
    set(quantities, Quantity::slots_branch_mispredict, bad_speculation);
  set(quantities, Quantity::slots_frontend, frontend);
  set(quantities, Quantity::slots_fetch_latency, frontend);
  set(quantities, Quantity::slots_backend, backend);
  if (reason != WaitingFor::execution) set(quantities, Quantity::slots_memory, backend);
  set(quantities, Quantity::recovery_cycles, whole_cycles(retire_, refilled));
  const Slot waiting_from = std::clamp(dispatched.first, fetched, first);
  charge_stall_cycles(whole_cycles(retire_, first), whole_cycles(waiting_from, first), reason, quantities);
}

u64 Pipeline::retire(const Dispatched& dispatched, u64 ready_cycle, WaitingFor reason,
                     Quantities& quantities) {
  // A result of latency 1 is ready for others in the next cycle and retires in this one.
  const u64 delay = ready_cycle > dispatched.last_cycle + 1 ? ready_cycle - 1 - dispatched.last_cycle : 0;
  const Slot first = std::max(retire_, Slot{dispatched.first.cycle() + delay, dispatched.first.index()});
  if (first > retire_) charge_lost_slots(dispatched, first, reason, quantities);
  retire_ = advance(first, dispatched.uops);

  const u64 cycle = retire_.index() == 0 ? retire_.cycle() - 1 : retire_.cycle();
  const u64 cycles = cycle - retired_cycle_;
  set(quantities, Quantity::uops, dispatched.uops);
  if (cycles != 0) {
    set(quantities, Quantity::cycles, cycles);
    set(quantities, Quantity::slots, cycles * width_);
    set(quantities, Quantity::reference_cycles,
        cycle * reference_numerator_ / reference_denominator_ -
            retired_cycle_ * reference_numerator_ / reference_denominator_);
  }
  retired_cycle_ = cycle;
  remember(dispatched.uops, cycle);
  return cycle;
}

}  // namespace pmusim

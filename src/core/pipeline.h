// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_PIPELINE_H
#define PMUSIM_CORE_PIPELINE_H

#include <algorithm>
#include <bit>
#include <compare>
#include <vector>

#include "cpu/quantity_set.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// A place for one uop: slot `index` (below 256) of a cycle, in program order. One word, so that it is copied
/// and compared as one.
class Slot {
 public:
  constexpr Slot() = default;
  constexpr Slot(u64 cycle, unsigned index) : bits_(cycle << index_bits | index) {}
  constexpr u64 cycle() const { return bits_ >> index_bits; }
  constexpr unsigned index() const { return static_cast<unsigned>(bits_ & low_bits(index_bits)); }
  /// The same slot so many cycles later.
  constexpr Slot after(u64 cycles) const { return Slot(bits_ + (cycles << index_bits)); }
  /// So many slots on, where a cycle has `width`.
  constexpr Slot next(unsigned slots, unsigned width) const {
    const unsigned last = index() + slots;
    if (last >= 2 * width) [[unlikely]]
      return {cycle() + last / width, last % width};
    return Slot(bits_ + slots + (last >= width ? bit(index_bits) - width : 0));
  }
  friend constexpr auto operator<=>(const Slot&, const Slot&) = default;

 private:
  static constexpr unsigned index_bits = 8;
  constexpr explicit Slot(u64 bits) : bits_(bits) {}
  u64 bits_ = u64{1} << index_bits;  // the first of cycle 1
};

/// What an instruction that retires late was waiting for: its operands or its own latency, room in the store
/// buffer, or a load from one of the levels, nearest first.
enum class WaitingFor : u8 { execution, store_buffer, l1, l2, l3, memory };

/// The two in-order ends of the machine and the reorder buffer between them.
///
/// Uops are dispatched `issue_width` per cycle, and retire as fast: wider retirement shows in no sum.
/// Dispatch runs ahead of retirement until the reorder buffer is full, which is what hides a latency or does
/// not. In a straight run of one-cycle instructions both ends meet the same slots. A slot in which nothing
/// retires is charged to whoever held up the instruction that finally came: refill after wrong speculation,
/// then fetch, then execution and memory.
///
/// Invariant: the lost slots and the uops of all retirements, and `open_slots()`, add up to the slots of all
/// cycles.
class Pipeline {
 public:
  struct Dispatched {
    Slot first;
    u64 last_cycle = 0;  ///< in which the last uop is dispatched
    unsigned uops = 0;
  };
  /// Why the uops before a refill were lost.
  enum class Refill : u8 { mispredict, clear };

  explicit Pipeline(const CoreParameters& parameters);

  /// The earliest cycle in which the next instruction is dispatched.
  u64 next_dispatch() const { return dispatch_.cycle(); }
  /// Holds dispatch until the load buffer has room for another load.
  void make_room_for_load(Quantities& quantities) {
    hold(load_buffer_[oldest_load_] + 1, Quantity::load_buffer_full_cycles, quantities);
  }
  /// Gives an instruction its slots; without uops of its own it shares those of the one before it. This and
  /// what holds it up are added to `quantities`.
  Dispatched dispatch(unsigned uops, Quantities& quantities);
  /// The next two uops are not parted by the end of a cycle.
  void keep_together() {
    if (dispatch_.index() + 1 == width_) dispatch_ = {dispatch_.cycle() + 1, 0};
  }
  /// The next uop has a cycle for itself.
  void begin_alone() { dispatch_ = {dispatch_.cycle() + (dispatch_.index() != 0 ? 1 : 0), width_ - 1}; }
  /// Nothing is dispatched before `cycle`: the scheduler is full.
  void stall_dispatch(u64 cycle, Quantities& quantities) {
    hold(cycle, Quantity::scheduler_full_cycles, quantities);
  }
  /// Nothing is dispatched before `cycle`: code did not arrive.
  void stall_fetch(u64 cycle);
  /// Nothing is dispatched before `cycle`: the pipeline was flushed.
  void refill(u64 cycle, Refill reason);
  /// Nothing is dispatched before everything has retired.
  void drain() { hold(retired_cycle_ + 1); }
  /// The same where an instruction asks for it.
  void serialize(Quantities& quantities) {
    hold(retired_cycle_ + 1, Quantity::serializing_stall_cycles, quantities);
  }

  /// Everything has retired, the last of it in `cycle`.
  void stand_until(u64 cycle) {
    retired_cycle_ = cycle;
    retire_ = {cycle + 1, 0};
    hold(cycle + 1);
  }

  /// How an instruction came through: what the account of its slots is made of, on demand.
  struct Passage {
    Slot dispatched, before,
        first;  ///< its first slot at either end, and the first that was free to retire in
    u64 refilled_cycle = 0, fetched_cycle = 0;  ///< until when either last held dispatch
    u64 cycle = 0;                              ///< of its retirement
    WaitingFor reason = WaitingFor::execution;
    Refill refill_reason = Refill::mispredict;
  };
  /// Retires an instruction whose result is ready for others in `ready_cycle`, and writes down how.
  void retire(const Dispatched& dispatched, u64 ready_cycle, WaitingFor reason, Passage& passage);
  /// Adds the slots lost before an instruction that has retired, and the cycles in which none retired.
  void account_lost(const Passage& passage, Quantities& quantities) const {
    if (passage.first > passage.before) charge_lost_slots(passage, quantities);
  }
  /// What that can add.
  static constexpr QuantitySet lost =
      QuantitySet::range(Quantity::slots_bad_speculation, Quantity::slots_memory) |
      QuantitySet::range(Quantity::stall_cycles, Quantity::recovery_cycles) |
      QuantitySet{Quantity::clear_resteer_cycles, Quantity::starved_cycles, Quantity::slots_fetch_bandwidth};
  /// Adds the cycles and slots from one retirement to another.
  void account_time(u64 since, u64 until, Quantities& quantities) const;

  /// The instruction that has just retired leaves the load buffer.
  void retire_load() {
    load_buffer_[oldest_load_] = retired_cycle_;
    if (++oldest_load_ == load_buffer_.size()) oldest_load_ = 0;
  }

  /// Cycle of the last retirement.
  u64 retired_cycle() const { return retired_cycle_; }
  /// Slots of that cycle that are still free.
  unsigned open_slots() const { return retire_.cycle() > retired_cycle_ ? 0 : width_ - retire_.index(); }

 private:
  u64 slots_between(const Slot& from, const Slot& to) const;
  void hold(u64 cycle);
  void hold(u64 cycle, Quantity why, Quantities& quantities);
  void tell_dispatch(const Dispatched& dispatched, Quantities& quantities);
  void charge_lost_slots(const Passage& passage, Quantities& quantities) const;
  void remember(unsigned uops, u64 cycle);
  /// The last cycle in which a slot before this one is.
  static u64 cycle_before(const Slot& slot) { return slot.cycle() - (slot.index() == 0 ? 1 : 0); }

  unsigned width_;
  u64 reference_numerator_, reference_denominator_;
  Slot dispatch_, retire_;  // next free slot of either end
  u64 retired_cycle_ = 0;
  u64 refilled_cycle_ = 0, fetched_cycle_ = 0;  // until when either last held dispatch
  Refill refill_reason_ = Refill::mispredict;
  /// Per uop, by the lowest bits of its number: the cycle in which it retired. Longer than the reorder
  /// buffer, so that what is before the first uop has retired in cycle 0.
  std::vector<u64> retired_cycles_;
  u64 retired_mask_;
  u64 reorder_buffer_uops_, retired_uops_ = 0;
  std::vector<u64> load_buffer_;  // per load: the same
  std::size_t oldest_load_ = 0;
  Dispatched last_;
  u64 last_issue_cycle_ = 0;
};

inline void Pipeline::hold(u64 cycle) { dispatch_ = std::max(dispatch_, Slot{cycle, 0}); }

// The same, and tells in how many whole cycles nothing is dispatched.
inline void Pipeline::hold(u64 cycle, Quantity why, Quantities& quantities) {
  if (cycle <= dispatch_.cycle()) return;
  const u64 first = dispatch_.cycle() + (dispatch_.index() == 0 ? 0 : 1);
  quantities[static_cast<unsigned>(why)] += static_cast<u32>(cycle - first);
  dispatch_ = {cycle, 0};
}

inline void Pipeline::tell_dispatch(const Dispatched& dispatched, Quantities& quantities) {
  const u64 begun = std::max(last_issue_cycle_ + 1, dispatched.first.cycle());
  quantities[static_cast<unsigned>(Quantity::cycles_not_issuing)] +=
      static_cast<u32>(begun - last_issue_cycle_ - 1);
  quantities[static_cast<unsigned>(Quantity::cycles_issuing)] +=
      static_cast<u32>(dispatched.last_cycle + 1 - begun);
  last_issue_cycle_ = dispatched.last_cycle;
}

[[gnu::always_inline]] inline Pipeline::Dispatched Pipeline::dispatch(unsigned uops, Quantities& quantities) {
  if (uops == 0) return {last_.first, last_.last_cycle, 0};
  // The uop that leaves the reorder buffer to make place for the last of these.
  const u64 leaving = retired_uops_ + std::min<u64>(uops, reorder_buffer_uops_) - 1 - reorder_buffer_uops_;
  hold(retired_cycles_[leaving & retired_mask_] + 1, Quantity::reorder_buffer_full_cycles, quantities);

  const Slot first = dispatch_;
  dispatch_ = first.next(uops, width_);
  // Member by member: what has just been written in halves is slow to copy as a whole.
  const u64 last_cycle = cycle_before(dispatch_);
  last_.first = first;
  last_.last_cycle = last_cycle;
  last_.uops = uops;
  tell_dispatch(last_, quantities);
  return {first, last_cycle, uops};
}

inline void Pipeline::remember(unsigned uops, u64 cycle) {
  for (unsigned left = uops; left != 0; --left) retired_cycles_[retired_uops_++ & retired_mask_] = cycle;
}

// Member by member here too.
inline void Pipeline::retire(const Dispatched& dispatched, u64 ready_cycle, WaitingFor reason,
                             Passage& passage) {
  // A result of latency 1 is ready for others in the next cycle and retires in this one.
  const u64 delay = ready_cycle > dispatched.last_cycle + 1 ? ready_cycle - 1 - dispatched.last_cycle : 0;
  const Slot before = retire_;
  const Slot first = std::max(before, dispatched.first.after(delay));
  retire_ = first.next(dispatched.uops, width_);
  retired_cycle_ = cycle_before(retire_);
  remember(dispatched.uops, retired_cycle_);
  passage.dispatched = dispatched.first;
  passage.before = before;
  passage.first = first;
  passage.refilled_cycle = refilled_cycle_;
  passage.fetched_cycle = fetched_cycle_;
  passage.cycle = retired_cycle_;
  passage.reason = reason;
  passage.refill_reason = refill_reason_;
}

}  // namespace pmusim

#endif

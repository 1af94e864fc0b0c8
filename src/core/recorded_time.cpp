// SPDX-License-Identifier: MIT
#include "core/recorded_time.h"

#include "core/quantities.h"
#include "cpu/lost_time.h"

namespace pmusim {

RecordedTime::RecordedTime(const CoreParameters& p)
    : width_(p.issue_width),
      reference_numerator_(p.tsc_per_core_cycle_numerator),
      reference_denominator_(p.tsc_per_core_cycle_denominator) {}

void RecordedTime::begin(const trace::BlockRun& run) {
  block_begin_cycle_ = retired_cycle_;
  block_cycles_ = run.cycles.value_or(0);
  instructions_ = run.block->instructions.size();
  retired_ = 0;
}

u64 RecordedTime::retire() {
  retired_cycle_ = block_begin_cycle_ + block_cycles_ * ++retired_ / instructions_;
  return retired_cycle_;
}

void RecordedTime::account(u64 since, u64 cycle, Quantities& quantities) const {
  for (const Quantity each : lost_time) at(quantities, each) = 0;
  at(quantities, Quantity::cycles) = static_cast<u32>(cycle - since);
  at(quantities, Quantity::slots) = static_cast<u32>((cycle - since) * width_);
  at(quantities, Quantity::reference_cycles) =
      static_cast<u32>(reference_ticks(cycle) - reference_ticks(since));
}

u64 RecordedTime::reference_ticks(u64 cycle) const {
  return cycle * reference_numerator_ / reference_denominator_;
}

}  // namespace pmusim

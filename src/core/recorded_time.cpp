// SPDX-License-Identifier: MIT
#include "core/recorded_time.h"

#include "cpu/lost_time.h"

namespace pmusim {
namespace {

u32& at(Quantities& quantities, Quantity which) { return quantities[static_cast<unsigned>(which)]; }

}  // namespace

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

u64 RecordedTime::retire(Quantities& quantities) {
  const u64 before = retired_cycle_;
  retired_cycle_ = block_begin_cycle_ + block_cycles_ * ++retired_ / instructions_;
  for (const Quantity each : lost_time) at(quantities, each) = 0;
  const u64 cycles = retired_cycle_ - before;
  at(quantities, Quantity::cycles) = static_cast<u32>(cycles);
  at(quantities, Quantity::slots) = static_cast<u32>(cycles * width_);
  at(quantities, Quantity::reference_cycles) =
      static_cast<u32>(reference_ticks(retired_cycle_) - reference_ticks(before));
  return retired_cycle_;
}

u64 RecordedTime::reference_ticks(u64 cycle) const {
  return cycle * reference_numerator_ / reference_denominator_;
}

}  // namespace pmusim

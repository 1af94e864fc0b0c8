// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_RECORDED_TIME_H
#define PMUSIM_SRC_CORE_RECORDED_TIME_H

#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/trace/trace.h"

namespace pmusim {

/// Time as a trace has recorded it, in place of the pipeline's: how long a block took is known, its
/// instructions share it evenly. What the cycles were lost to is not known.
class RecordedTime {
 public:
  explicit RecordedTime(const CoreParameters& parameters);

  /// Begins an execution of a block with recorded cycles.
  void begin(const trace::BlockRun& run);
  /// The cycle in which the next instruction of the block retires.
  u64 retire();
  /// An instruction retired in a cycle, the one before it `since`: of the quantities that are made of cycles
  /// and slots, those that follow from it are set, and the others are 0.
  void account(u64 since, u64 cycle, Quantities& quantities) const;

  /// Cycle of the last retirement.
  u64 cycle() const { return retired_cycle_; }

 private:
  u64 reference_ticks(u64 cycle) const;

  u64 width_, reference_numerator_, reference_denominator_;
  u64 retired_cycle_ = 0;
  u64 block_begin_cycle_ = 0, block_cycles_ = 0;
  std::size_t instructions_ = 1, retired_ = 0;  // of the block
};

}  // namespace pmusim

#endif

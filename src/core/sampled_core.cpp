// SPDX-License-Identifier: MIT
#include "core/sampled_core.h"

#include <algorithm>

namespace pmusim {

Result<SampledCore, Error> SampledCore::create(const CpuModel& model, const trace::Contents& contents,
                                               const CoreWindows& windows) {
  if (auto checked = check_windows(windows); !checked.ok()) return Failure(checked.error());
  auto core = IntervalCore::create(model, contents);
  if (!core.ok()) return Failure(core.error());
  return SampledCore(std::move(core).value(), windows);
}

SampledCore::SampledCore(IntervalCore core, const CoreWindows& windows)
    : IntervalCore(std::move(core)), windows_(windows), phase_end_(windows.first) {}

std::optional<u64> SampledCore::take_window() { return std::exchange(ended_, std::nullopt); }

void SampledCore::end_window() {
  if (counted_ != 0) ended_ = std::exchange(counted_, 0);
}

void SampledCore::enter_next_phase() {
  phase_begins_ = true;
  switch (phase_) {
    case Phase::between:
      resume();
      phase_ = Phase::warming;
      phase_end_ += windows_.warm;
      break;
    case Phase::warming:
      phase_ = Phase::counted;
      phase_end_ += windows_.detail;
      break;
    case Phase::counted:
      end_window();
      if (all_counted_ != 0) cycles_per_instruction_ = (counted_cycles_ << fraction_bits) / all_counted_;
      phase_ = Phase::between;
      phase_end_ += windows_.every - windows_.warm - windows_.detail;
      break;
  }
}

u64 SampledCore::end_of(std::size_t instructions) {
  owed_ += static_cast<i64>(instructions * cycles_per_instruction_);
  const i64 cycles = std::max<i64>(0, owed_ >> fraction_bits);
  owed_ -= cycles << fraction_bits;
  return cycle() + static_cast<u64>(cycles);
}

void SampledCore::count(const BlockExecution& execution) {
  // An empty pipeline takes time to fill that no program takes.
  if (phase_ == Phase::warming) {
    owed_ += static_cast<i64>(execution.instructions * cycles_per_instruction_) -
             static_cast<i64>(u64{execution.cycles} << fraction_bits);
    return;
  }
  counted_ += execution.instructions;
  all_counted_ += execution.instructions;
  counted_cycles_ += execution.cycles;
}

BlockExecution SampledCore::execute(const trace::BlockRun& run) {
  phase_begins_ = false;
  while (instructions_ >= phase_end_) enter_next_phase();
  const std::size_t instructions = run.block->instructions.size();
  instructions_ += instructions;
  if (phase_ == Phase::between) return execute_in_order(run, end_of(instructions));
  const BlockExecution execution = IntervalCore::execute(run);
  count(execution);
  return execution;
}

}  // namespace pmusim

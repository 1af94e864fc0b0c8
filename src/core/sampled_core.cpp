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
      phase_ = Phase::between;
      phase_end_ += windows_.every - windows_.warm - windows_.detail;
      set_pace();
      break;
  }
}

/// What windows have taken on average changes from one to the next, and pipelines that fill have taken time
/// that the program does not. At the end of each stretch between windows as much time has passed as the
/// average says of the whole program so far, unless more has passed already: then little does.
void SampledCore::set_pace() {
  if (all_counted_ == 0) return;
  const u64 average = (counted_cycles_ << fraction_bits) / all_counted_;
  constexpr unsigned half = fraction_bits / 2;  // each, so that products fit in 64 bits
  const u64 target = (average * (phase_end_ >> half)) >> half;
  const u64 left = target > cycle() ? target - cycle() : 0;
  const u64 stretch = phase_end_ > instructions_ ? phase_end_ - instructions_ : 1;
  cycles_per_instruction_ = std::max((left << fraction_bits) / stretch, average / 8);
}

u64 SampledCore::end_of(std::size_t instructions) {
  fraction_ += instructions * cycles_per_instruction_;
  const u64 cycles = fraction_ >> fraction_bits;
  fraction_ -= cycles << fraction_bits;
  return cycle() + cycles;
}

void SampledCore::count(const BlockExecution& execution) {
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
  if (phase_ == Phase::counted) count(execution);
  return execution;
}

}  // namespace pmusim

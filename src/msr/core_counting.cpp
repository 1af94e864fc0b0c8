// SPDX-License-Identifier: MIT
// Counting for both threads of a core: ANY of event selects and of FIXED_CTR_CTRL.
#include <algorithm>

#include "msr/counters.h"

namespace pmusim {

void CounterFile::share_core(bool shared) {
  if (shares_core_ == shared) return;
  shares_core_ = shared;
  decoded_ = {};
  derive();
}

std::array<CycleSpan, 2> CounterFile::cycles_until(u64 cycle, Cpl cpl) const {
  const bool in_tx = tx_ == TxState::in_tx;
  const u64 open = std::min(now_ + 1, cycle);
  return {CycleSpan{now_, open, cycle_has_retired_ ? cycle_cpl_ : cpl, in_tx},
          CycleSpan{open, cycle, cpl, in_tx}};
}

Counted CounterFile::retire_of_sibling(const Retirement& retirement) {
  Counted counted;
  for (const Running& running : derived_.retired) {
    if (!running.of_core || !running.passes(retirement.cpl, retirement.tx == TxState::in_tx)) continue;
    const u64 k = occurrences(running, retirement);
    if (k != 0) count(running, k, counted);
  }
  return counted;
}

Counted CounterFile::pass_time_of_sibling(CycleSpan& span) {
  Counted counted;
  CycleSpan step = span;
  if (derived_.single_steps) step.end = std::min(step.begin + 1, step.end);
  step.end = step.begin + core_cycles_to_wrap(step);
  close_span_of_core(step, counted);
  span.begin = step.end;
  return counted;
}

/// The part of a thread's cycles that the counter has not had from the other thread.
CycleSpan CounterFile::uncounted(const Running& running, const CycleSpan& span) const {
  CycleSpan part = span;
  part.begin = std::clamp(counted_until_[running.counter], span.begin, span.end);
  return part;
}

u64 CounterFile::core_cycles_to_wrap(CycleSpan span) const {
  for (const RunningList* const list : {&derived_.core_clocked, &derived_.core_per_cycle})
    for (const Running& running : *list) {
      const CycleSpan part = uncounted(running, span);
      if (part.cycles() != 0) span.end = part.begin + cycles_to_wrap(running, part);
    }
  return span.cycles();
}

/// Privilege and transactions are the thread's whose cycles they are: those that a counter does not count it
/// may still get from the other one.
void CounterFile::close_span_of_core(const CycleSpan& span, Counted& counted) {
  for (const Running& running : derived_.core_clocked) {
    const CycleSpan part = uncounted(running, span);
    if (part.cycles() == 0 || !running.passes(part.cpl, part.in_tx)) continue;
    const u64 passed = ticks(running, part.begin, part.cycles());
    if (passed != 0) add(running.counter, passed, counted);
    counted_until_[running.counter] = part.end;
  }
  for (const Running& running : derived_.core_per_cycle) {
    const CycleSpan part = uncounted(running, span);
    const bool counts = running.passes(part.cpl, part.in_tx) || in_cycle_[running.counter] != 0;
    if (part.cycles() == 0 || !counts) continue;
    if (part.begin != counted_until_[running.counter])  // neither thread had the cycle before
      was_satisfied_ &= ~bit(running.counter);
    const u64 added = increment(running, part);
    if (added != 0) add(running.counter, added, counted);
    close_last_cycle(running, part);
    counted_until_[running.counter] = part.end;
  }
}

}  // namespace pmusim

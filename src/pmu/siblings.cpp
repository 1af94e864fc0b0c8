// SPDX-License-Identifier: MIT
// What the two threads of a core do to each other: counters with ANY count for both.
#include <algorithm>

#include "pmu/sequencer.h"

namespace pmusim {

void Sequencer::pair_with(Sequencer& other) {
  sibling_.join(*this, other.sibling_, other);
  for (Sequencer* const thread : {this, &other}) thread->connect(*thread->memory_, thread->number_);
}

void Sequencer::pass_time_on_core(u64 cycle, Cpl cpl) {
  while (now() < cycle) {
    std::array<CycleSpan, 2> passed = counters_.cycles_until(cycle, cpl);
    const Counted counted = counters_.pass_time(cycle, cpl);
    for (CycleSpan& span : passed) {
      span.end = std::min(span.end, now());
      if (span.begin < span.end) sibling_->see_cycles(span);
    }
    occurred_while_waiting_ |= counted.occurred;
    apply_overflows(counted.overflowed);
  }
}

// What wraps has done so by the other thread's clock, to which this one comes up later where it is halted.
void Sequencer::see_cycles(CycleSpan span) {
  while (span.begin != span.end) {
    const u64 overflowed = counters_.pass_time_of_sibling(span).overflowed;
    apply_overflows(overflowed, std::max(now(), span.begin));
  }
}

void Sequencer::see_retirement(const Retirement& r) {
  apply_overflows(counters_.retire_of_sibling(r).overflowed, std::max(now(), r.cycle));
}

}  // namespace pmusim

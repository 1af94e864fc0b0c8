// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_X86_PERIOD_H
#define PMUSIM_SRC_DRIVER_X86_PERIOD_H

#include "pmusim/perf/driver.h"

namespace pmusim::driver {

/// How the next interval of a counter begins.
struct NextInterval {
  i64 left = 0;          ///< events until the counter is to overflow, 2 to the longest period
  bool expired = false;  ///< the interval before it is over
  u64 passed_over = 0;   ///< whole periods that went by before the interrupt was handled
};

/// What is left of the period, with `period_left` and `last_period` brought up to date (Linux:
/// x86_perf_event_set_period). `period_left` keeps the true value: a period of 1 counts as 2.
NextInterval next_interval(perf::HardwareEvent& event, u64 max_period);

/// Folds what the counter has counted since the last look into the event; `read` gives its value. An
/// interrupt that comes meanwhile looks itself: what was read before is then of an interval that is over.
template <class Read>
void count_up_to(perf::Event& event, u64 counter_mask, Read read) {
  perf::HardwareEvent& hw = event.hw;
  u64 before = 0, counted = 0, value = 0;
  do {
    before = hw.previous_count;
    counted = event.count;
    value = read();
  } while (hw.previous_count != before || event.count != counted);
  const u64 delta = (value - before) & counter_mask;
  hw.previous_count = value;
  event.count += delta;
  hw.period_left -= static_cast<i64>(delta);
}

}  // namespace pmusim::driver

#endif

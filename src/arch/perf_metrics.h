// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ARCH_PERF_METRICS_H
#define PMUSIM_SRC_ARCH_PERF_METRICS_H

#include "pmusim/base/types.h"

namespace pmusim {

/// Of `slots` those that a metric counts: its byte of MSR_PERF_METRICS (329H) in 255ths, rounded down.
constexpr u64 metric_slots(u64 slots, u64 metrics, unsigned metric) {
  constexpr u64 whole = 0xFF;
  const u64 share = metrics >> (8 * metric) & whole;
  return (slots / whole) * share + slots % whole * share / whole;
}

}  // namespace pmusim

#endif

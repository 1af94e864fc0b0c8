// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_PERF_METRICS_H
#define PMUSIM_MSR_PERF_METRICS_H

#include <array>

#include "pmusim/base/types.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// PERF_METRICS (MSR 329): how the slots of fixed counter 3 divide over the top-down categories, one byte
/// each.
///
/// Hardware keeps a slot count per category and shows each as a fraction of SLOTS, in 255ths. Writing the
/// register loads the counts from the fractions and the present SLOTS, which is why software restores SLOTS
/// first. Back-end bound is what the others leave over. Until something is counted, the register reads as it
/// was written.
class PerfMetrics {
 public:
  /// Slots by category, in the order of the register's bytes.
  using Slots = std::array<u64, 8>;

  explicit PerfMetrics(unsigned levels) : bytes_(levels * 4) {}

  /// The slots that come with a retirement.
  static Slots slots_in(const Quantities& quantities);
  /// Adds slots; true when a count passes 48 bits.
  bool count(const Slots& slots);
  /// How often, `at_most` that, `slots` can be added before a count passes 48 bits.
  u64 headroom(const Slots& slots, u64 at_most) const;
  u64 read(u64 slots) const;
  void write(u64 value, u64 slots);
  void add_to(StateHash& hash) const { hash.add(written_, counted_, slots_of_); }

 private:
  static constexpr unsigned backend_bound = 3;
  u64 byte_of(unsigned metric, u64 slots) const;

  unsigned bytes_;
  u64 written_ = 0;
  bool counted_ = false;  // since the last write
  Slots slots_of_{};
};

}  // namespace pmusim

#endif

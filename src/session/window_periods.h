// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_WINDOW_PERIODS_H
#define PMUSIM_SRC_SESSION_WINDOW_PERIODS_H

#include <cstddef>
#include <vector>

#include "pmusim/events/parser.h"
#include "pmusim/perf/abi.h"
#include "pmusim/session/session.h"

namespace pmusim {

/// Periods where only windows of a program are sampled: counters have shorter ones, so that there are as many
/// samples as in a replay of the whole where that can be, and each sample's period says what it stands for in
/// the program.
/// Without windows they stay as they are.
class WindowPeriods {
 public:
  explicit WindowPeriods(const Session& session);

  /// Errors: what windows do not count, the time that passes and counts that samples hold.
  Result<Done, Error> check(const events::ParsedEvent& event) const;
  /// That of a counter which is to sample as often as `attr` says.
  perf::Attr shortened(perf::Attr attr) const;
  /// An attribute with such a period, as readers of the file are to have it.
  perf::Attr described(perf::Attr attr) const;
  /// The same of the samples among whole records of this type.
  void apply(std::vector<std::byte>& records, u64 sample_type) const;

 private:
  u64 in_program(u64 period) const;

  const CpuModel* model_;
  u64 counted_ = 1, of_ = 1;  // so many instructions of so many
};

}  // namespace pmusim

#endif

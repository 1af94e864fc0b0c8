// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_GROWING_PERIODS_H
#define PMUSIM_SRC_SESSION_GROWING_PERIODS_H

#include "pmusim/session/record.h"

namespace pmusim {

/// The prime that follows, or the number itself. A prime does not beat with the program's loops.
u64 prime_from(u64 number);

/// Adapts periods while a program runs whose length nobody knows, for some 2000 samples each time it has run
/// twice as long. They are looked at when the session pauses: what occurs more often all of a sudden gives
/// more samples until then. Each sample has its period for a weight.
class PeriodGrowth {
 public:
  PeriodGrowth(Session& session, const std::optional<GrowingPeriods>& growing);
  /// Between instructions, now and then.
  void pass();

 private:
  /// An event since its period was looked at last.
  struct Growing {
    std::size_t event = 0;
    u64 count = 0, instructions = 0;
  };
  void pass(Growing& growing, perf::Event& event);

  Session& session_;
  u64 after_instructions_ = 0;
  std::vector<Growing> all_;
};

}  // namespace pmusim

#endif

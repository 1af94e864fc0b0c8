// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_GROWING_PERIODS_H
#define PMUSIM_SRC_SESSION_GROWING_PERIODS_H

#include "pmusim/session/record.h"

namespace pmusim {

/// The prime that follows, or the number itself. A prime does not beat with the program's loops.
u64 prime_from(u64 number);

/// Makes periods grow while a program is replayed.
class PeriodGrowth {
 public:
  PeriodGrowth(Session& session, const std::optional<GrowingPeriods>& growing)
      : session_(session), growing_(growing) {}
  /// Between instructions, now and then.
  void pass();

 private:
  Session& session_;
  std::optional<GrowingPeriods> growing_;
};

}  // namespace pmusim

#endif

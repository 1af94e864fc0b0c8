// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_DISAMBIGUATION_H
#define PMUSIM_CORE_DISAMBIGUATION_H

#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// Which loads may start before the addresses of all older stores are known: those that met none of them the
/// last 15 times. Four bits per load, by the lowest bits of its instruction's address.
class DisambiguationPredictor {
 public:
  /// `loads`: a power of two, or 0 for a machine whose loads never start too early.
  explicit DisambiguationPredictor(unsigned loads) : times_(loads) {}

  bool exists() const { return !times_.empty(); }
  bool may_pass(u64 ip) const { return times_[index(ip)] == sure; }
  /// The load at `ip` needed none of those stores.
  void was_right_to_pass(u64 ip) {
    u8& times = times_[index(ip)];
    if (times < sure) ++times;
  }
  /// It did.
  void was_wrong_to_pass(u64 ip) { times_[index(ip)] = 0; }

 private:
  static constexpr u8 sure = 15;
  std::size_t index(u64 ip) const { return ip & (times_.size() - 1); }
  std::vector<u8> times_;
};

}  // namespace pmusim

#endif

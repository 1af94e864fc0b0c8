// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_LOOP_PREDICTOR_H
#define PMUSIM_CORE_LOOP_PREDICTOR_H

#include <array>
#include <optional>

#include "pmusim/base/types.h"

namespace pmusim {

/// Knows branches that go one way a constant number of times and then once the other way: the end of a
/// counted loop, which is out of reach of any history that is shorter than the loop.
class LoopPredictor {
 public:
  /// The direction of the branch at `ip`, once three equal trip counts in a row give confidence.
  std::optional<bool> predict(u64 ip) const;
  /// Learns an outcome. Only a branch that `mispredicted` (in whatever predictor) gets a new entry.
  void learn(u64 ip, bool taken, bool mispredicted);

 private:
  static constexpr u8 confident = 3;
  static constexpr u32 longest_loop = 1u << 16;
  struct Entry {
    u64 ip = 0;
    u32 trips = 0;    // outcomes `direction` in a row in the last complete run
    u32 current = 0;  // outcomes `direction` so far in this run
    u8 confidence = 0;
    bool direction = true;
  };
  static std::size_t slot(u64 ip);
  std::array<Entry, 64> entries_{};
};

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_TARGET_PREDICTOR_H
#define PMUSIM_CORE_TARGET_PREDICTOR_H

#include <vector>

#include "core/set_associative.h"

namespace pmusim {

/// Where branches go: a branch target buffer, and for indirect branches a second table that also sees the
/// path (the targets of the last taken branches), as virtual calls and interpreters need.
class TargetPredictor {
 public:
  /// `btb_entries` a positive multiple of 4.
  explicit TargetPredictor(unsigned btb_entries);

  /// Whether the front end knew the target of the taken direct branch at `ip`; then it learns it.
  bool train_direct(u64 ip, u64 target);
  /// Whether it predicted the target of the indirect branch at `ip`; then it learns it.
  bool train_indirect(u64 ip, u64 target);
  /// Every taken branch becomes part of the path.
  void follow(u64 target) { path_ = path_ << 12 ^ target; }

 private:
  static constexpr unsigned btb_ways = 4, path_index_bits = 10;
  struct PathEntry {
    u64 tag = 0;
    u64 target = 0;
    bool confident = false;
  };
  SetAssociative<u64> btb_;
  std::vector<PathEntry> by_path_ = std::vector<PathEntry>(1u << path_index_bits);
  u64 path_ = 0;
};

}  // namespace pmusim

#endif

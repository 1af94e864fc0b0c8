// SPDX-License-Identifier: MIT
#include "core/target_predictor.h"

#include "core/bimodal.h"

namespace pmusim {

TargetPredictor::TargetPredictor(unsigned btb_entries) : btb_(btb_entries / btb_ways, btb_ways) {}

bool TargetPredictor::train_direct(u64 ip, u64 target) {
  u64* const known = btb_.find(ip);
  const bool right = known != nullptr && *known == target;
  if (known != nullptr)
    *known = target;
  else
    btb_.insert(ip, target);
  return right;
}

bool TargetPredictor::train_indirect(u64 ip, u64 target) {
  const u64 tag = branch_hash(ip ^ branch_hash(path_));
  PathEntry& entry = by_path_[tag >> (64 - path_index_bits)];
  const bool known = entry.tag == tag;
  const bool by_path_right = known && entry.target == target;
  const bool last_right = train_direct(ip, target);  // an indirect branch repeats its last target, mostly
  const bool right = known && entry.confident ? by_path_right : last_right;
  if (by_path_right) {
    entry.confident = true;
  } else if (known && entry.confident) {
    entry.confident = false;
  } else if (known || !last_right) {
    entry = PathEntry{tag, target, true};
  }
  return right;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "core/uop_cache.h"

namespace pmusim {

// The window selects the set; where in the window the line begins is in bits that no window number has.
u64 UopCache::key_of(u64 ip) const {
  return ip >> window_shift_ | (ip & low_bits(window_shift_)) << (64 - window_shift_);
}

void UopCache::begin_line(u64 ip) {
  used_ = 0;
  if (lines_of_window_ == window_lines_) {
    hit_ = false;
    for (unsigned n = 0; n < window_lines_; ++n) lines_.erase(keys_[n]);
    return;
  }
  const u64 key = key_of(ip);
  keys_[lines_of_window_++] = key;
  hit_ = lines_.find(key) != nullptr;
  if (!hit_) lines_.insert(key, {});
}

}  // namespace pmusim

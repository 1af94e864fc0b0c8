// SPDX-License-Identifier: MIT
#include "core/uop_cache.h"

namespace pmusim {

// The window selects the set; where in the window the line begins is in bits that no window number has.
u64 UopCache::key_of(u64 ip) const {
  return ip >> window_shift_ | (ip & low_bits(window_shift_)) << (64 - window_shift_);
}

std::vector<UopCache::Line> UopCache::lines_of(std::span<const Code> code) const {
  std::vector<Line> lines;
  for (std::size_t n = 0; n < code.size(); ++n) {
    const auto uops = static_cast<u8>(code[n].uops);
    const bool fits = !lines.empty() && code[n].ip >> window_shift_ == lines.back().ip >> window_shift_ &&
                      lines.back().uops + code[n].uops <= line_uops_;
    if (fits)
      lines.back().uops = static_cast<u8>(lines.back().uops + uops);
    else
      lines.push_back({code[n].ip, static_cast<u16>(n), uops, uops});
  }
  return lines;
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

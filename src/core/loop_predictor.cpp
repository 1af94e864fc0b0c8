// SPDX-License-Identifier: MIT
#include "core/loop_predictor.h"

#include "core/bimodal.h"

namespace pmusim {

std::size_t LoopPredictor::slot(u64 ip) { return branch_hash(ip) >> 58; }

std::optional<bool> LoopPredictor::predict(u64 ip) const {
  const Entry& entry = entries_[slot(ip)];
  if (entry.ip != ip || entry.confidence < confident) return std::nullopt;
  return entry.current < entry.trips ? entry.direction : !entry.direction;
}

void LoopPredictor::learn(u64 ip, bool taken, bool mispredicted) {
  Entry& entry = entries_[slot(ip)];
  if (entry.ip != ip) {
    // A mispredicted outcome is most likely the exit, so the loop runs the other way.
    if (mispredicted && entry.confidence == 0) entry = Entry{.ip = ip, .direction = !taken};
    if (mispredicted && entry.ip != ip) --entry.confidence;
    return;
  }
  if (taken == entry.direction) {
    if (++entry.current > longest_loop) entry = Entry{};
    return;
  }
  if (entry.current == 0) {  // twice the exit: the loop runs the other way
    entry = Entry{.ip = ip, .current = 1, .direction = taken};
    return;
  }
  if (entry.current == entry.trips) {
    if (entry.confidence < confident) ++entry.confidence;
  } else {
    entry.confidence = 0;
    entry.trips = entry.current;
  }
  entry.current = 0;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "formats/pt_timing.h"

namespace pmusim::formats {
namespace {

// So many instructions without a moment that is known are not held back any longer.
constexpr std::size_t max_waiting = 1 << 20;

/// a * b / c, whose result is in range.
u64 scaled(u64 a, u64 b, u64 c) {
  __extension__ using u128 = unsigned __int128;
  return static_cast<u64>(static_cast<u128>(a) * b / c);
}

}  // namespace

Result<Done, Error> PtTiming::retire(TraceMaker::Thread thread, const PtItem& instruction) {
  Waiting& held = waiting_.emplace_back();
  held.ip = instruction.ip;
  for (const std::byte byte : instruction.code) held.code.push_back(byte);
  if (has_moved(instruction.time)) return know(thread, instruction.time);
  if (last_.tsc == 0) last_ = instruction.time;
  return waiting_.size() < max_waiting ? Done{} : estimate(thread);
}

Result<Done, Error> PtTiming::know(TraceMaker::Thread thread, PtTime now) {
  if (auto shared = share(thread, timed_, timed_cycles_); !shared) return shared;
  timed_ = waiting_.size();
  timed_cycles_ = cycles_since_last(now);
  known_instructions_ += timed_;
  known_cycles_ += timed_cycles_;
  last_ = now;
  return Done{};
}

Result<Done, Error> PtTiming::stop(TraceMaker::Thread thread, PtTime time) {
  if (waiting_.empty()) return Done{};
  if (has_moved(time))
    if (auto known = know(thread, time); !known) return known;
  const bool stops_at_last = timed_ != 0 && time.tsc == last_.tsc;
  return stops_at_last ? share(thread, waiting_.size(), timed_cycles_) : estimate(thread);
}

u64 PtTiming::cycles_since_last(PtTime now) const {
  const u64 ticks = std::min<u64>(now.tsc - last_.tsc, low_bits(32));
  return now.core_bus_ratio == 0 || nominal_ratio_ == 0
             ? ticks
             : scaled(ticks, std::min<u32>(now.core_bus_ratio, 255), nominal_ratio_);
}

Result<Done, Error> PtTiming::estimate(TraceMaker::Thread thread) {
  if (auto shared = share(thread, timed_, timed_cycles_); !shared) return shared;
  estimated_ += waiting_.size();
  return share(thread, waiting_.size(),
               known_instructions_ == 0 ? waiting_.size()
                                        : scaled(waiting_.size(), known_cycles_, known_instructions_));
}

Result<Done, Error> PtTiming::share(TraceMaker::Thread thread, std::size_t instructions, u64 cycles) {
  u64 spent = 0;
  for (std::size_t n = 0; n < instructions; ++n) {
    const Waiting& each = waiting_[n];
    if (auto retired = maker_.retire(thread, each.ip, each.code.bytes(), {}, 1); !retired) return retired;
    const u64 until = scaled(cycles, n + 1, instructions);
    maker_.elapse(thread, until - spent);
    spent = until;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(instructions));
  timed_ = 0;
  timed_cycles_ = 0;
  return Done{};
}

}  // namespace pmusim::formats

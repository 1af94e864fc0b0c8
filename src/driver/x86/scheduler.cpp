// SPDX-License-Identifier: MIT
#include "driver/x86/scheduler.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace pmusim::driver {
namespace {

class Assignment {
 public:
  Assignment(std::span<const Constraint> constraints, unsigned gp_limit, std::span<int> counters)
      : constraints_(constraints), gp_limit_(gp_limit), counters_(counters) {
    lightest_ = max_scheduled_events;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      weights_[i] = constraints[i].weight();
      lightest_ = std::min(lightest_, weights_[i]);
      heaviest_ = std::max(heaviest_, weights_[i]);
    }
  }

  bool solve() {
    state_.weight = lightest_;
    state_.left = constraints_.size();
    while (weights_[state_.event] != state_.weight) ++state_.event;
    for (;;) {
      while (!place()) {
        if (saved_count_ == 0) return false;
        take_back();
      }
      counters_[state_.event] = static_cast<int>(state_.counter);
      if (--state_.left == 0) return true;
      if (!next_event()) return false;
    }
  }

 private:
  struct State {
    unsigned weight = 0;
    std::size_t event = 0;
    unsigned counter = 0;  // first general counter to try
    u64 used = 0;
    unsigned gp_used = 0;
    std::size_t left = 0;  // events without a counter
  };

  /// Finds a counter for the current event.
  bool place() {
    const Constraint& constraint = constraints_[state_.event];
    const u64 taken = constraint.pair ? state_.used | state_.used >> 1 : state_.used;
    const u64 free = constraint.counters & ~taken;
    if (const u64 fixed = free & ~counter::GP_BITS; fixed != 0) {
      take(static_cast<unsigned>(std::countr_zero(fixed)));
      return true;
    }
    const u64 gp = free & counter::GP_BITS & ~low_bits(state_.counter);
    if (gp == 0 || state_.gp_used++ >= gp_limit_) return false;
    take(static_cast<unsigned>(std::countr_zero(gp)));
    if (constraint.pair) state_.used |= bit(state_.counter + 1);
    if (constraint.overlap && saved_count_ < saved_.size()) saved_[saved_count_++] = state_;
    return true;
  }

  void take(unsigned counter) {
    state_.used |= bit(counter);
    state_.counter = counter;
  }

  /// Goes back to the newest remembered choice, to try its next counter.
  void take_back() {
    state_ = saved_[--saved_count_];
    state_.used &= ~bit(state_.counter);
    ++state_.counter;
  }

  bool next_event() {
    do {
      if (++state_.event == constraints_.size()) {
        state_.event = 0;
        if (++state_.weight > heaviest_) return false;
      }
    } while (weights_[state_.event] != state_.weight);
    state_.counter = 0;
    return true;
  }

  std::span<const Constraint> constraints_;
  unsigned gp_limit_;
  std::span<int> counters_;
  std::array<unsigned, max_scheduled_events> weights_;
  unsigned lightest_, heaviest_ = 0;
  State state_;
  std::array<State, 2> saved_;
  std::size_t saved_count_ = 0;
};

}  // namespace

bool assign_counters(std::span<const Constraint> constraints, unsigned gp_limit, std::span<int> counters) {
  assert(constraints.size() <= max_scheduled_events && constraints.size() == counters.size());
  if (constraints.empty()) return true;
  return Assignment(constraints, gp_limit, counters).solve();
}

}  // namespace pmusim::driver

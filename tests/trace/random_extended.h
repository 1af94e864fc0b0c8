// SPDX-License-Identifier: MIT
#ifndef TESTS_TRACE_RANDOM_EXTENDED_H
#define TESTS_TRACE_RANDOM_EXTENDED_H

#include <random>

#include "pmusim/arch/xsave.h"

namespace pmusim::trace {

/// Changes a few registers, or puts a component out of use, as an instruction might.
inline ExtendedState changed(ExtendedState state, std::mt19937_64& random) {
  for (u64 changes = random() % 3; changes > 0; --changes) {
    const auto c = static_cast<StateComponent>(random() % static_cast<u64>(StateComponent::count_));
    if (ExtendedState::size_of(c) == 0) continue;
    if (random() % 4 == 0)
      state.set_in_use(state.in_use() & ~state_bit(c));
    else
      state.write(c, random() % ExtendedState::size_of(c), {random() % 4});
  }
  return state;
}

}  // namespace pmusim::trace

#endif

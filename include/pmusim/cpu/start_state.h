// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_START_STATE_H
#define PMUSIM_CPU_START_STATE_H

#include <string_view>

#include "pmusim/base/bits.h"
#include "pmusim/base/error.h"

namespace pmusim {

/// What caches, TLBs and predictors hold when a replay begins (docs/core-model.md).
enum class StartState : u8 {
  cold,  ///< nothing
  warm,  ///< what a run of the same program has left there
};

std::string_view name_of(StartState start);
/// "cold" or "warm". Errors: any other name.
[[nodiscard]] Result<StartState, Error> find_start_state(std::string_view name);

}  // namespace pmusim

#endif

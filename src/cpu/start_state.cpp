// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "pmusim/cpu/setup.h"

namespace pmusim {

std::string_view name_of(StartState start) { return start == StartState::warm ? "warm" : "cold"; }

Result<StartState, Error> find_start_state(std::string_view name) {
  for (const StartState start : {StartState::cold, StartState::warm})
    if (name_of(start) == name) return start;
  return Failure(Error(fmt::format("there is no start '{}': 'cold' and 'warm' are", name)));
}

}  // namespace pmusim

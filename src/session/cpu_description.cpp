// SPDX-License-Identifier: MIT
#include "session/cpu_description.h"

#include <fmt/format.h>

namespace pmusim {

std::string with_choices(std::string_view cpu, std::string_view core_set, StartState start) {
  return fmt::format("{}{}{}{}", cpu, core_set.empty() ? "" : " with ", core_set,
                     start == StartState::warm ? ", warm" : "");
}

std::string cpu_description(const CpuModel& model, StartState start) {
  return "pmusim " + with_choices(model.title, chosen_core_parameters(model), start);
}

}  // namespace pmusim

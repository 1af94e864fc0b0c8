// SPDX-License-Identifier: MIT
#include "why/setting.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pmusim/cpu/core_parameters.h"

namespace pmusim::why {

std::string Setting::text() const {
  return fmt::format("{}{}{}{}", model, core_set.empty() ? "" : " with ", core_set,
                     start == StartState::warm ? ", warm" : "");
}

void Setting::add_to(nlohmann::ordered_json& json) const {
  if (!core_set.empty()) json["core_set"] = core_set;
  if (start != StartState::cold) json["start"] = name_of(start);
}

Setting setting_of(const CpuModel& model, StartState start) {
  return {.model = model.name, .core_set = chosen_core_parameters(model), .start = start};
}

}  // namespace pmusim::why

// SPDX-License-Identifier: MIT
#include "why/setting.h"

#include <nlohmann/json.hpp>

#include "pmusim/cpu/core_parameters.h"
#include "session/cpu_description.h"

namespace pmusim::why {

std::string Setting::text() const { return with_choices(model, core_set, start); }

void Setting::add_to(nlohmann::ordered_json& json) const {
  if (!core_set.empty()) json["core_set"] = core_set;
  if (start != StartState::cold) json["start"] = name_of(start);
}

Setting setting_of(const CpuModel& model, StartState start) {
  return {.model = model.name, .core_set = chosen_core_parameters(model), .start = start};
}

}  // namespace pmusim::why

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_PARAMETER_PAGE_H
#define PMUSIM_TOOLS_PARAMETER_PAGE_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim::tools {

// The parameters of the timing model, with the values that models have and how each is known; without
// models, what can be chosen.

std::string parameter_table(const std::vector<const CpuModel*>& models);
nlohmann::ordered_json parameter_json(const std::vector<const CpuModel*>& models);
/// docs/core-parameters.md.
std::string parameter_page();

}  // namespace pmusim::tools

#endif

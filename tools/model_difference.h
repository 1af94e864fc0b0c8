// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_MODEL_DIFFERENCE_H
#define PMUSIM_TOOLS_MODEL_DIFFERENCE_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim::tools {

/// A fact that two models do not share. Null: the model has no such thing.
struct ModelDifference {
  std::string what;  ///< "lbr.depth", "cpuid.0xa.0.eax", "events.BR_MISP_RETIRED.ALL_BRANCHES"
  nlohmann::ordered_json first, second;
};

/// What differs between two models, of what `models --json` says of each (`facts`), and of the events that
/// they name, with their encodings.
std::vector<ModelDifference> differences(const CpuModel& first, nlohmann::ordered_json facts_of_first,
                                         const CpuModel& second, nlohmann::ordered_json facts_of_second);

/// A line each, the names of the models above them.
std::string table_of(const std::vector<ModelDifference>& differences, const CpuModel& first,
                     const CpuModel& second);

}  // namespace pmusim::tools

#endif

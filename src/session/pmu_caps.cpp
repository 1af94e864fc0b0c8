// SPDX-License-Identifier: MIT
#include "session/pmu_caps.h"

#include <fmt/format.h>

namespace pmusim {

std::vector<std::pair<std::string, std::string>> pmu_caps(const perf::PmuCapabilities& pmu,
                                                          const CpuModel& model) {
  std::vector<std::pair<std::string, std::string>> all;
  if (pmu.names_core || pmu.branch_entries != 0)
    all.emplace_back("branches", fmt::format("{}", pmu.branch_entries));
  if (pmu.branch_counter_count != 0) {
    all.emplace_back("branch_counter_nr", fmt::format("{}", pmu.branch_counter_count));
    all.emplace_back("branch_counter_width", fmt::format("{}", pmu.branch_counter_width));
  }
  all.emplace_back("max_precise", fmt::format("{}", pmu.max_precise));
  if (pmu.names_core) all.emplace_back("pmu_name", model.name);
  return all;
}

}  // namespace pmusim

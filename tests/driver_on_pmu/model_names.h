// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_DRIVER_ON_PMU_MODEL_NAMES_H
#define PMUSIM_TESTS_DRIVER_ON_PMU_MODEL_NAMES_H

#include <gtest/gtest.h>

#include <algorithm>

#include "pmusim/cpu/model.h"

namespace pmusim::driver {

/// For tests of all presets.
inline std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const CpuModel& model : cpu_models()) names.push_back(model.name);
  return names;
}
inline std::string identifier(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace pmusim::driver

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_SETTING_H
#define PMUSIM_SRC_WHY_SETTING_H

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "pmusim/cpu/model.h"
#include "pmusim/cpu/setup.h"

namespace pmusim::why {

/// What a program was replayed on, as reports say it.
struct Setting {
  std::string model;
  std::string core_set{};  ///< what was changed of it
  StartState start = StartState::cold;

  /// "icelake with l2_bytes=2MiB, warm".
  std::string text() const;
  /// Adds what is not as usual.
  void add_to(nlohmann::ordered_json& json) const;
};

Setting setting_of(const CpuModel& model, StartState start);

}  // namespace pmusim::why

#endif

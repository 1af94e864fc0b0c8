// SPDX-License-Identifier: MIT
#include "pmusim/cpu/core_level.h"

#include <fmt/format.h>

#include <algorithm>

namespace pmusim {

namespace {
constexpr std::string_view level_names[] = {"interval", "simple", "flat"};
}  // namespace

std::span<const std::string_view> core_level_names() { return level_names; }

std::string_view name_of(CoreLevel level) { return level_names[static_cast<unsigned>(level)]; }

Result<CoreLevel, Error> find_core_level(std::string_view name) {
  const auto* const found = std::ranges::find(level_names, name);
  if (found == std::end(level_names))
    return Failure(Error(fmt::format("there is no core '{}': 'interval', 'simple' and 'flat' are", name)));
  return static_cast<CoreLevel>(found - level_names);
}

}  // namespace pmusim

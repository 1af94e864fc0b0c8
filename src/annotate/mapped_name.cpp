// SPDX-License-Identifier: MIT
#include "mapped_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pmusim::annotate {

bool is_anonymous(const std::string& name) {
  constexpr std::array<std::string_view, 8> prefixes{"//anon", "/dev/zero", "/anon_hugepage", "[heap]",
                                                     "[stack", "/SYSV",     "[anon:",         "/memfd:"};
  return name.empty() ||
         std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string jit_map(const std::filesystem::path& directory, u32 pid) {
  return (directory / fmt::format("perf-{}.map", pid)).string();
}

bool is_jit_map(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.starts_with("perf-") && name.ends_with(".map");
}

}  // namespace pmusim::annotate

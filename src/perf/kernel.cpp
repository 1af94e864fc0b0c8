// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pmusim/perf/abi.h"

namespace pmusim::perf {

namespace {

/// In the order of `Kernel`.
constexpr std::array<std::string_view, 10> names{"6.12", "6.14", "6.15",        "6.16", "6.19",
                                                 "7.0",  "7.1",  "7.1-simd-v7", "7.3",  "7.4"};

}  // namespace

std::string_view name_of(Kernel kernel) { return names[static_cast<std::size_t>(kernel)]; }

Result<Kernel, Error> find_kernel(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    return Failure(Error(
        fmt::format("kernel '{}': none of those that can be emulated: {}", name, fmt::join(names, ", "))));
  return static_cast<Kernel>(found - names.begin());
}

std::vector<std::string_view> kernel_names() { return {names.begin(), names.end()}; }

std::string first_release_with(const Change& change) {
  return fmt::format("Linux {}", name_of(change.since));
}

}  // namespace pmusim::perf

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_SUGGEST_H
#define PMUSIM_BASE_SUGGEST_H

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pmusim {

/// The names that a person who typed `wanted` may have meant, best first, at most `most` of them: those that
/// contain it or begin alike, and those a few typing errors away. Case does not matter.
std::vector<std::string_view> near_matches(std::string_view wanted, std::span<const std::string_view> names,
                                           std::size_t most = 5);

/// The end of an error sentence: "; did you mean a, b or c?", or nothing where no name is near.
std::string did_you_mean(std::string_view wanted, std::span<const std::string_view> names,
                         std::size_t most = 5);

}  // namespace pmusim

#endif

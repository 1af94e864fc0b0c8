// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_BASE_BUILD_ID_H
#define PMUSIM_SRC_BASE_BUILD_ID_H

#include <algorithm>
#include <cstddef>
#include <span>

namespace pmusim {

/// Whether a file with the build id `actual` is the build that was `recorded`. Old perfs recorded no sizes:
/// their ids have 20 bytes, zeros behind shorter ones.
inline bool is_same_build(std::span<const std::byte> recorded, std::span<const std::byte> actual) {
  constexpr std::size_t unsized_bytes = 20;
  const bool is_unsized =
      recorded.size() == unsized_bytes && !actual.empty() && actual.size() < unsized_bytes;
  if (!is_unsized) return std::ranges::equal(recorded, actual);
  return std::ranges::equal(recorded.first(actual.size()), actual) &&
         std::ranges::all_of(recorded.subspan(actual.size()), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace pmusim

#endif

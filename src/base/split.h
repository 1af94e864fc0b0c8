// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_SPLIT_H
#define PMUSIM_BASE_SPLIT_H

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace pmusim {

/// The parts of a text between separators, without empty ones.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  parts.reserve(32);
  for (std::size_t at = text.find_first_not_of(separator); at != text.npos;) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(separator, end);
  }
  return parts;
}

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_LETTERS_H
#define PMUSIM_BASE_LETTERS_H

#include <cstddef>
#include <string_view>

namespace pmusim {

/// As in the C locale, wherever the process runs.
constexpr char lower(char c) {
  return static_cast<unsigned char>(c - 'A') < 26 ? static_cast<char>(c + 0x20) : c;
}
constexpr char upper(char c) {
  return static_cast<unsigned char>(c - 'a') < 26 ? static_cast<char>(c - 0x20) : c;
}

constexpr bool equal_without_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

}  // namespace pmusim

#endif

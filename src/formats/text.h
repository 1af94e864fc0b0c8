// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_TEXT_H
#define PMUSIM_SRC_FORMATS_TEXT_H

#include <charconv>
#include <optional>
#include <string_view>

/// What the formats that are text are read with.
namespace pmusim::formats {

/// All of `text` as a number, or nothing.
template <class T>
std::optional<T> number(std::string_view text, int base) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// Without the blanks around it, of which CR is one: lines may have come from another system.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks), end = text.find_last_not_of(blanks);
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

}  // namespace pmusim::formats

#endif

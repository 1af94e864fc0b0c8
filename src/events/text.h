// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_TEXT_H
#define PMUSIM_SRC_EVENTS_TEXT_H

#include <charconv>
#include <optional>
#include <string_view>

#include "base/letters.h"
#include "pmusim/base/types.h"

namespace pmusim::events {

/// What separates the parts of an event list and says nothing: lists are kept in files and broken there.
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// All of `digits` as a number of that base, or nothing.
inline std::optional<u64> parse_digits(std::string_view digits, int base) {
  u64 value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, base);
  return digits.empty() || error != std::errc{} || stopped != end ? std::nullopt : std::optional(value);
}

/// A decimal or 0x number.
inline std::optional<u64> parse_number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  return hex ? parse_digits(text.substr(2), 16) : parse_digits(text, 10);
}

}  // namespace pmusim::events

#endif

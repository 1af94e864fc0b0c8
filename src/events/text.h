// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_TEXT_H
#define PMUSIM_SRC_EVENTS_TEXT_H

#include <charconv>
#include <optional>
#include <string_view>

#include "base/letters.h"
#include "pmusim/base/bits.h"

namespace pmusim::events {

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

// SPDX-License-Identifier: MIT
#include "text.h"

#include <fmt/format.h>

#include "base/letters.h"
#include "pmusim/base/types.h"

namespace pmusim::tools {

namespace {

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*')
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  if (text.empty() || (pattern[0] != '?' && lower(pattern[0]) != lower(text[0]))) return false;
  return matches(pattern.substr(1), text.substr(1));
}

}  // namespace

std::string bit_ranges(u64 mask) {
  std::string ranges;
  for (int high = 63; high >= 0; --high) {
    if ((mask & bit(static_cast<unsigned>(high))) == 0) continue;
    int low = high;
    while (low > 0 && (mask & bit(static_cast<unsigned>(low - 1))) != 0) --low;
    if (!ranges.empty()) ranges += ", ";
    ranges += high == low ? fmt::format("{}", high) : fmt::format("{}:{}", high, low);
    high = low;
  }
  return ranges.empty() ? "-" : ranges;
}

std::string index_ranges(u64 mask) {
  std::string ranges;
  for (unsigned low = 0; low < 64; ++low) {
    if ((mask & bit(low)) == 0) continue;
    unsigned high = low;
    while (high < 63 && (mask & bit(high + 1)) != 0) ++high;
    if (!ranges.empty()) ranges += ",";
    ranges += high == low ? fmt::format("{}", low) : fmt::format("{}-{}", low, high);
    low = high;
  }
  return ranges.empty() ? "-" : ranges;
}

std::string hex(u64 value) { return fmt::format("{:#x}", value); }

bool matches_glob(const std::string& pattern, const std::string& text) { return matches(pattern, text); }

}  // namespace pmusim::tools

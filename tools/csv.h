// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_CSV_H
#define PMUSIM_TOOLS_CSV_H

#include <string>
#include <string_view>

namespace pmusim::tools {

/// A field of comma-separated values (RFC 4180): in quotes where it holds the separator, a quote or the end
/// of a line.
inline std::string csv_field(std::string_view text, std::string_view separator = ",") {
  const bool splits = !separator.empty() && text.find(separator) != std::string_view::npos;
  if (!splits && text.find_first_of("\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + '"';
}

}  // namespace pmusim::tools

#endif

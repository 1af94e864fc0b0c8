// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_COLOURS_H
#define PMUSIM_SRC_ANNOTATE_COLOURS_H

#include <optional>
#include <string>
#include <string_view>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

enum class Colour : u8 { normal, red, green, blue, magenta };

inline std::string painted(std::string text, Colour colour, Colours colours) {
  constexpr std::string_view codes[] = {"", "\x1b[31m", "\x1b[32m", "\x1b[34m", "\x1b[35m"};
  if (colours == Colours::none || colour == Colour::normal) return text;
  return std::string(codes[static_cast<std::size_t>(colour)]) + text + "\x1b[m";
}

// perf's limits.
inline Colour percent_colour(double percent) {
  if (percent >= 5) return Colour::red;
  return percent > 0.5 ? Colour::green : Colour::normal;
}
inline Colour address_colour(std::optional<double> heat) {
  if (heat && *heat > 0.75) return Colour::red;
  return heat && *heat < 0.01 ? Colour::normal : Colour::magenta;
}
inline Colour code_colour(std::optional<double> heat) {
  return heat && *heat < 0.01 ? Colour::normal : Colour::blue;
}

}  // namespace pmusim::annotate

#endif

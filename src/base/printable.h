// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_PRINTABLE_H
#define PMUSIM_BASE_PRINTABLE_H

#include <string>
#include <string_view>

namespace pmusim {

/// `text` as a terminal can show it on one line: control characters, and bytes that are no UTF-8, become
/// \xNN, a backslash two. What files name (programs, mapped files, symbols) goes through here on its way to a
/// line.
std::string printable(std::string_view text);

}  // namespace pmusim

#endif

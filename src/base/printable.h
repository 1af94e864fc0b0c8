// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_PRINTABLE_H
#define PMUSIM_BASE_PRINTABLE_H

#include <string>
#include <string_view>

namespace pmusim {

/// `name` as a terminal can show it on one line: control characters, and bytes that are no UTF-8, become
/// \xNN, a backslash two. What files name (programs, mapped files, symbols, events) goes through here on its
/// way to a line.
std::string printable(std::string_view name);

/// The same for a sentence with names in it, some of which may have been through printable(): a backslash
/// stays one.
std::string printable_sentence(std::string_view sentence);

}  // namespace pmusim

#endif

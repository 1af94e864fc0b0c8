// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_TEXT_H
#define PMUSIM_TOOLS_TEXT_H

#include <string>

#include "pmusim/base/types.h"

namespace pmusim::tools {

/// The set bits as manuals write them, highest first: "63, 47:40, 18:0". "-" where none is set.
std::string bit_ranges(u64 mask);

/// The set bits counted up: "0-3, 5". "-" where none is set.
std::string index_ranges(u64 mask);

std::string hex(u64 value);

/// Whether `text` fits a pattern of letters, '*' (anything) and '?' (one character). Case does not matter.
bool matches_glob(const std::string& pattern, const std::string& text);

}  // namespace pmusim::tools

#endif

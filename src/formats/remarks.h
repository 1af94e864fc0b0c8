// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_FORMATS_REMARKS_H
#define PMUSIM_SRC_FORMATS_REMARKS_H

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::formats {

/// Sentences about a conversion: how many of what there were, if any.
inline void add_count(std::vector<std::string>& remarks, u64 amount, std::string_view what) {
  if (amount != 0) remarks.push_back(fmt::format("{} {}", fmt::group_digits(amount), what));
}

/// ": ONE; ANOTHER", or nothing.
inline std::string joined_behind_colon(const std::vector<std::string>& sentences) {
  return fmt::format("{}{}", sentences.empty() ? "" : ": ", fmt::join(sentences, "; "));
}

/// The sentence about a file without instructions, and what was in it instead.
inline Error nothing_in(const std::string& path, const std::vector<std::string>& left_out) {
  return Error(fmt::format("{}: no instruction in it{}", path, joined_behind_colon(left_out)));
}

}  // namespace pmusim::formats

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_QUANTITY_H
#define PMUSIM_TOOLS_QUANTITY_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::tools {

/// What k, M and G stand for.
enum class Scale : u64 { decimal = 1000, binary = 1024 };

/// All of a text as a decimal number; nothing where it is none or does not fit.
std::optional<u64> parse_number(std::string_view text);

/// What stands between the commas of a list: one part at least, and any may be empty.
std::vector<std::string_view> parts_of(std::string_view list);

/// A number with k, M or G (or B, for one) behind it; nothing where it is none or does not fit.
std::optional<u64> parse_quantity(std::string_view text, Scale scale);

/// A number of at least one from an option: "10007", "10k". Ends the command with a sentence that names the
/// option.
u64 positive(std::string_view option, std::string_view text);

/// A size of at least a byte from an option: "64M". Ends the command with a sentence that names the option.
u64 size_in_bytes(std::string_view option, std::string_view text);

/// A list of numbers as -p takes it: "12,15".
std::vector<u32> number_list(std::string_view option, std::string_view text);

/// Ends the command unless the list of CPUs (empty: none is given) is of a machine that has one.
void check_cpu_list(std::string_view text);

/// Data pages of a ring buffer from what -m takes: a power of two, or a size with B, K, M or G, rounded up to
/// one.
std::size_t ring_pages(std::string_view text);

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_ATTR_PARSER_H
#define PMUSIM_SRC_PERFDATA_ATTR_PARSER_H

#include <optional>
#include <span>
#include <string>

#include "pmusim/perf/abi.h"

namespace pmusim::perfdata {

/// Takes an attribute of any size that its own size field gives; what Attr does not have is dropped. Nothing
/// if the size is impossible.
std::optional<perf::Attr> parse_attr(std::span<const std::byte> bytes);

/// What in the bytes of an attribute is unknown here, so that samples may have more than is read of them:
/// "reserved bits, sample type 0x2000000"; empty if nothing is.
std::string unknown_parts(std::span<const std::byte> bytes);

}  // namespace pmusim::perfdata

#endif

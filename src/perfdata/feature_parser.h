// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_FEATURE_PARSER_H
#define PMUSIM_SRC_PERFDATA_FEATURE_PARSER_H

#include <span>

#include "perfdata/features.h"

namespace pmusim::perfdata {

/// Takes an attribute of any size that its own size field gives; what Attr does not have is dropped. Nothing
/// if the size is impossible.
std::optional<perf::Attr> parse_attr(std::span<const std::byte> bytes);

/// Adds what the payload of a feature says; features that nobody here asks for say nothing. False: the
/// payload ends early or cannot be meant so.
bool parse_feature(Description& description, Feature feature, std::span<const std::byte> payload);

/// One build-id entry with its header; false if it is none.
bool parse_build_id(Description& description, std::span<const std::byte> entry);

}  // namespace pmusim::perfdata

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_FEATURE_PARSER_H
#define PMUSIM_SRC_PERFDATA_FEATURE_PARSER_H

#include <span>

#include "perfdata/features.h"

namespace pmusim::perfdata {

/// Adds what the payload of a feature says, as far as it goes: an empty one says nothing, one of an older
/// perf has less, one of a newer perf may have more behind, and features that nobody here asks for are not
/// looked at. False: the payload ends within something.
bool parse_feature(Description& description, Feature feature, std::span<const std::byte> payload);

/// perf's name for a feature: "CPU_TOPOLOGY"; its number where there is none.
std::string feature_name(unsigned number);

/// One build-id entry with its header; false if it is none.
bool parse_build_id(Description& description, std::span<const std::byte> entry);

}  // namespace pmusim::perfdata

#endif

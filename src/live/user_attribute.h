// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_USER_ATTRIBUTE_H
#define PMUSIM_SRC_LIVE_USER_ATTRIBUTE_H

#include <span>
#include <vector>

#include "pmusim/perf/abi.h"

namespace pmusim::live {

/// The attribute of an event at `address` of a task, as long as it says it is; shorter where it cannot be
/// read.
std::vector<std::byte> read_attribute(u32 tid, u64 address);
/// What is known of it at this size: type, size and config stand in front in every version.
perf::Attr beginning_of(std::span<const std::byte> user);

}  // namespace pmusim::live

#endif

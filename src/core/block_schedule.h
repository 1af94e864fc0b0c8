// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_BLOCK_SCHEDULE_H
#define PMUSIM_SRC_CORE_BLOCK_SCHEDULE_H

#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/trace/trace.h"

namespace pmusim {

/// In which cycle after the last retirement before a block each of its instructions retires: never
/// decreasing, and 1 at least. What is before the block does not change it.
using BlockSchedule = std::vector<u32>;

/// An instruction in every cycle.
BlockSchedule schedule_flat(const trace::Block& block, const CoreParameters& core);

/// `issue_width` instructions begin in a cycle at most, each when its registers are there; all of them are
/// when the block begins. It takes the latency of its form, a load that of the first cache before it, and
/// they retire in order. Serializing instructions wait for everything before them.
BlockSchedule schedule_simple(const trace::Block& block, const CoreParameters& core);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#include "core/ordered_block.h"

namespace pmusim {

OrderedBlock in_order(const trace::Block& block, const LoweredBlock& lowered) {
  OrderedBlock ordered;
  for (std::size_t n = 0; n < lowered.instructions.size(); ++n) {
    const LoweredInstruction& each = lowered.instructions[n];
    const bool accesses = each.operands != 0 || each.rep || each.loads() || each.stores();
    if (n == 0 || !each.stays_in_line || accesses || block.instructions[n].flushes_line)
      ordered.steps.push_back(static_cast<u16>(n));
    if (!each.second_of_pair) ordered.code.push_back({static_cast<u16>(each.ip - block.start()), each.uops});
  }
  return ordered;
}

}  // namespace pmusim

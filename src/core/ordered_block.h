// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_ORDERED_BLOCK_H
#define PMUSIM_SRC_CORE_ORDERED_BLOCK_H

#include <vector>

#include "core/lowered_block.h"

namespace pmusim {

/// What caches, TLBs and the uop cache see of a block, whatever its time is: found once, and small, as
/// programs are larger than caches.
struct OrderedBlock {
  /// One that leaves the front end, alone or with the one that it is fused with.
  struct Code {
    u16 offset = 0;  ///< from the begin of the block
    u8 uops = 0;
  };

  std::vector<u16> steps;  ///< instructions, in order, that may enter a line of code or that access memory
  std::vector<Code> code;
  bool known() const { return !steps.empty(); }
};

OrderedBlock in_order(const trace::Block& block, const LoweredBlock& lowered);

}  // namespace pmusim

#endif

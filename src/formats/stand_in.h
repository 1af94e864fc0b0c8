// SPDX-License-Identifier: MIT
#ifndef PMUSIM_FORMATS_STAND_IN_H
#define PMUSIM_FORMATS_STAND_IN_H

#include "formats/step.h"

namespace pmusim::formats {

/// What is known of an instruction whose bytes are not.
struct Shape {
  BranchKind kind = BranchKind::none;
  u8 length = 0;  ///< 0: not known, and then at most `room`
  u8 room = max_instruction_bytes;
  bool repeats = false;
  u8 loads = 0, stores = 0,
     modifications = 0;  ///< at each execution; a modification is load and store in one
  u16 access_bytes = 8;
  u64 target = 0;  ///< of a direct branch; 0: never seen
};

/// An instruction at `ip` of that shape, as nearly as x86 has one: with the length, the kind of branch, one
/// or two accesses. Redundant prefixes make it long.
Code stand_in(u64 ip, const Shape& shape);

}  // namespace pmusim::formats

#endif

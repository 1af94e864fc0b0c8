// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PEBS_DS_POINTERS_H
#define PMUSIM_SRC_PEBS_DS_POINTERS_H

#include <optional>

#include "base/memory.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim::pebs {

enum class DsBuffer : u8 { bts, pebs };

/// One of the two buffers that a management area describes.
struct DsPointers {
  u64 base = 0, index = 0, maximum = 0, threshold = 0;

  /// Room for `bytes` more between index and absolute maximum.
  bool fits(u64 bytes) const { return index <= maximum && bytes <= maximum - index; }
};

/// Reads the pointers; none where the area is not mapped.
std::optional<DsPointers> read_ds_pointers(const Memory& memory, u64 area, DsWidth width, DsBuffer buffer);

/// Stores a buffer's index. The area is known to be mapped.
void write_ds_index(Memory& memory, u64 area, DsWidth width, DsBuffer buffer, u64 index);

/// Doubleword alignment, which the manual demands of area and buffers.
constexpr bool is_ds_aligned(u64 address) { return address % 4 == 0; }

}  // namespace pmusim::pebs

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_CRC32_H
#define PMUSIM_BASE_CRC32_H

#include "pmusim/base/types.h"

namespace pmusim {

/// CRC-32 of IEEE 802.3, going on from that of the bytes before.
u32 crc32(const void* data, std::size_t bytes, u32 before = 0);

}  // namespace pmusim

#endif

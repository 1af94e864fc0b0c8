// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_TYPES_H
#define PMUSIM_BASE_TYPES_H

#include <cstddef>
#include <cstdint>

namespace pmusim {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

}  // namespace pmusim

#endif

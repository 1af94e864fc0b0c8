// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_DS_AREA_H
#define PMUSIM_ARCH_DS_AREA_H

#include <boost/endian/arithmetic.hpp>
#include <cstddef>
#include <optional>

#include "pmusim/base/types.h"

namespace pmusim {

using le16 = boost::endian::little_uint16_t;
using le32 = boost::endian::little_uint32_t;
using le64 = boost::endian::little_uint64_t;

/// Buffer pointers of the Debug Store management area (SDM vol. 3, DS save area), as DTES64 lays them out.
/// Counter reset slots follow: `reset_slot_offset`.
struct DsArea64 {
  le64 bts_base, bts_index, bts_maximum, bts_threshold;
  le64 pebs_base, pebs_index, pebs_maximum, pebs_threshold;
};
static_assert(sizeof(DsArea64) == 0x40 && offsetof(DsArea64, pebs_base) == 0x20);

/// The same without DTES64: pointers shrink to 32 bits, reset slots keep 64.
struct DsArea32 {
  le32 bts_base, bts_index, bts_maximum, bts_threshold;
  le32 pebs_base, pebs_index, pebs_maximum, pebs_threshold;
};
static_assert(sizeof(DsArea32) == 0x20 && offsetof(DsArea32, pebs_base) == 0x10);

/// One taken branch of the branch trace store.
struct BtsRecord64 {
  le64 from, to, flags;
};
static_assert(sizeof(BtsRecord64) == 24);
struct BtsRecord32 {
  le32 from, to, flags;
};
static_assert(sizeof(BtsRecord32) == 12);
inline constexpr u64 bts_flag_predicted = 1u << 4;

enum class DsWidth : u8 { bits_32, bits_64 };

/// Byte offset of a counter's 64-bit reset slot in the management area, or none where the generation has no
/// slot for it. `counter`: GP n is n, fixed m is 32 + m; `format` is IA32_PERF_CAPABILITIES[11:8].
constexpr std::optional<u64> reset_slot_offset(DsWidth width, unsigned format, unsigned counter) {
  const u64 first = width == DsWidth::bits_64 ? sizeof(DsArea64) : sizeof(DsArea32);
  const bool fixed = counter >= 32;
  const unsigned number = fixed ? counter - 32 : counter;
  if (width == DsWidth::bits_32 || format < 5) {
    if (number >= (fixed ? 4u : 8u)) return std::nullopt;
    return first + 8 * (fixed ? 8 + number : number);
  }
  if (number >= (fixed ? 16u : 32u)) return std::nullopt;
  return first + 8 * (fixed ? 32 + number : number);
}

/// Bytes of the 64-bit management area with all slots that the format knows.
constexpr u64 ds_area_bytes(unsigned format) { return format < 5 ? 0xA0 : 0x1C0; }
static_assert(reset_slot_offset(DsWidth::bits_64, 5, 32) == 0x140 && ds_area_bytes(5) == 448);
static_assert(reset_slot_offset(DsWidth::bits_64, 4, 35) == 0x98 && ds_area_bytes(4) == 0xA0);
static_assert(reset_slot_offset(DsWidth::bits_32, 1, 0) == 0x20);

}  // namespace pmusim

#endif

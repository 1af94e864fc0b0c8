// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_DATA_SOURCE_H
#define PMUSIM_ARCH_DATA_SOURCE_H

#include "pmusim/base/bits.h"

namespace pmusim {

/// Which encoding the data-source word of a PEBS record has, by the microarchitecture that introduced it
/// (Linux: pebs_data_source, load_latency_data).
enum class DataSourceEncoding : u8 {
  none,
  nehalem,
  westmere,
  sandy_bridge,
  skylake,
  golden_cove,
  gracemont,
  crestmont,
  lion_cove,
  panther_cove,
  arctic_wolf,
};

/// Where the parts of a data-source word lie. A zero mask: the encoding cannot tell.
struct DataSourceLayout {
  u64 code = 0;  ///< the source code itself
  u64 stlb_miss = 0, locked = 0, data_blocked = 0, address_blocked = 0;
  u64 l2_miss = 0;  ///< code is an off-module source
};

constexpr DataSourceLayout data_source_layout(DataSourceEncoding encoding) {
  switch (encoding) {
    case DataSourceEncoding::none:
      return {};
    case DataSourceEncoding::nehalem:
      return {.code = 0xF};
    case DataSourceEncoding::westmere:
    case DataSourceEncoding::sandy_bridge:
    case DataSourceEncoding::skylake:
      return {.code = 0xF, .stlb_miss = bit(4), .locked = bit(5)};
    case DataSourceEncoding::golden_cove:
      return {.code = 0xF,
              .stlb_miss = bit(4),
              .locked = bit(5),
              .data_blocked = bit(6),
              .address_blocked = bit(7)};
    case DataSourceEncoding::gracemont:
      return {.code = 0xF, .stlb_miss = bit(5), .locked = bit(4), .data_blocked = bit(6)};
    case DataSourceEncoding::crestmont:
      return {.code = 0xF, .stlb_miss = bit(6), .locked = bit(5), .data_blocked = bit(7)};
    case DataSourceEncoding::lion_cove:
      return {.code = 0xFF,
              .stlb_miss = bit(10),
              .locked = bit(11),
              .data_blocked = bit(12),
              .address_blocked = bit(13)};
    case DataSourceEncoding::panther_cove:
    case DataSourceEncoding::arctic_wolf:
      return {.code = 0xFF,
              .stlb_miss = bit(11),
              .locked = bit(12),
              .data_blocked = bit(13),
              .address_blocked = bit(14),
              .l2_miss = bit(8)};
  }
  return {};
}

/// Stores of the facilities before store latency: precise store and the address-only memory events.
namespace store_status {
inline constexpr u64 L1_HIT = bit(0), STLB_MISS = bit(4), LOCKED = bit(5);
}  // namespace store_status

}  // namespace pmusim

#endif

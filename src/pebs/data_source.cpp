// SPDX-License-Identifier: MIT
#include <array>

#include "record.h"

namespace pmusim::pebs {

namespace {

/// Codes for where an access was answered, indexed by CacheLevel. A processor of its own has no other
/// cache to snoop, so lines come in the states that an unshared system reports.
struct LevelCodes {
  std::array<u16, 5> code;  // l1, fill_buffer, l2, l3, memory
};

constexpr u16 off_module = 0x100;  // the encoding's L2-miss bit goes with the code

constexpr LevelCodes codes_of(DataSourceEncoding encoding) {
  switch (encoding) {
    case DataSourceEncoding::none:
      return {};
    case DataSourceEncoding::nehalem:
    case DataSourceEncoding::westmere:
    case DataSourceEncoding::sandy_bridge:
      return {{1, 2, 3, 4, 0xC}};  // local RAM, exclusive
    case DataSourceEncoding::skylake:
    case DataSourceEncoding::golden_cove:
    case DataSourceEncoding::gracemont:
    case DataSourceEncoding::crestmont:
      return {{1, 2, 3, 4, 0xA}};  // local RAM
    case DataSourceEncoding::lion_cove:
      return {{1, 3, 5, 8, 0x11}};
    case DataSourceEncoding::panther_cove:
      return {{1, 3, 4, off_module | 2, off_module | 8}};
    case DataSourceEncoding::arctic_wolf:
      return {{1, 2, 3, off_module | 2, off_module | 8}};
  }
  return {};
}

}  // namespace

u64 encode_data_source(DataSourceEncoding encoding, const MemoryAccess& access) {
  const DataSourceLayout layout = data_source_layout(encoding);
  const u64 code = codes_of(encoding).code[static_cast<unsigned>(access.level)];
  u64 word = code & layout.code;
  if ((code & off_module) != 0) word |= layout.l2_miss;
  if (access.tlb == TlbLevel::walk) word |= layout.stlb_miss;
  if (access.locked) word |= layout.locked;
  return word;
}

}  // namespace pmusim::pebs

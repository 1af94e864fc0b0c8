// SPDX-License-Identifier: MIT
#include <array>

#include "record.h"

namespace pmusim::pebs {

namespace {

/// Codes for where an access was answered, by CacheLevel, and of L3 by what other cores said.
struct LevelCodes {
  std::array<u16, 5> by_level;  // l1, fill_buffer, l2, l3, memory
  std::array<u16, 5> by_snoop;  // of L3: none, miss, hit, forward, modified
  u16 remote_forward = 0, remote_modified = 0;
};

constexpr u16 off_module = 0x100;  // the encoding's L2-miss bit goes with the code
constexpr u16 far_l3 = off_module | 0x12;
constexpr u16 l3_of_module = off_module | 2, modified = 0x20, asked = 0x40, found = 0x80;
constexpr std::array<u16, 5> off_module_snoops{l3_of_module, l3_of_module | asked, l3_of_module | found,
                                               l3_of_module | found, l3_of_module | modified};

constexpr LevelCodes codes_of(DataSourceEncoding encoding) {
  switch (encoding) {
    case DataSourceEncoding::none:
      return {};
    case DataSourceEncoding::nehalem:
    case DataSourceEncoding::westmere:  // local RAM, exclusive
      return {{1, 2, 3, 4, 0xC}, {4, 4, 5, 5, 6}, 8, 9};
    case DataSourceEncoding::sandy_bridge:
      return {{1, 2, 3, 4, 0xC}, {4, 5, 6, 6, 7}, 8, 9};
    case DataSourceEncoding::skylake:
    case DataSourceEncoding::golden_cove:  // local RAM
      return {{1, 2, 3, 4, 0xA}, {4, 5, 6, 6, 7}, 0xC, 0xD};
    case DataSourceEncoding::gracemont:
      return {{1, 2, 3, 4, 0xA}, {4, 4, 5, 8, 6}, 0xB, 9};
    case DataSourceEncoding::crestmont:
      return {{1, 2, 3, 4, 0xA}, {4, 5, 6, 7, 8}, 0xC, 0xD};
    case DataSourceEncoding::lion_cove:
      return {{1, 3, 5, 8, 0x11}, {8, 8, 8, 0xC, 0xD}, 0x11, 0xF};
    case DataSourceEncoding::panther_cove:
      return {{1, 3, 4, l3_of_module, off_module | 8}, off_module_snoops, far_l3 | found, far_l3 | modified};
    case DataSourceEncoding::arctic_wolf:
      return {{1, 2, 3, l3_of_module, off_module | 8}, off_module_snoops, far_l3 | found, far_l3 | modified};
  }
  return {};
}

u16 code_of(const LevelCodes& codes, const MemoryAccess& access) {
  if (access.remote) return access.snoop == Snoop::modified ? codes.remote_modified : codes.remote_forward;
  if (access.level == CacheLevel::l3) return codes.by_snoop[static_cast<unsigned>(access.snoop)];
  return codes.by_level[static_cast<unsigned>(access.level)];
}

}  // namespace

u64 encode_data_source(DataSourceEncoding encoding, const MemoryAccess& access) {
  const DataSourceLayout layout = data_source_layout(encoding);
  const u64 code = code_of(codes_of(encoding), access);
  u64 word = code & layout.code;
  if ((code & off_module) != 0) word |= layout.l2_miss;
  if (access.tlb == TlbLevel::walk) word |= layout.stlb_miss;
  if (access.locked) word |= layout.locked;
  return word;
}

}  // namespace pmusim::pebs

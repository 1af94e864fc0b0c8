// SPDX-License-Identifier: MIT
#include "arch/pebs_fragments.h"

namespace pmusim::pebs {

namespace {

constexpr u64 counters_groups = cfg_c::GP | cfg_c::FIXED | cfg_c::METRICS;

/// What cannot be split further, in record order, behind the basic group. The vector groups share a header.
constexpr u64 later_groups[] = {cfg_c::AUX, cfg_c::GPRS, cfg_c::VECTORS, cfg_c::LBR,
                                counters_groups | cfg_c::ALLOW_IN_RECORD};

/// Write offsets count in units of 16 bytes.
constexpr u32 round_up_16(u32 bytes) { return (bytes + 15) & ~15u; }

}  // namespace

ArchFragments::ArchFragments(u64 word, u32 lbr_depth, u32 counters_bytes, u32 longest) {
  const auto bytes_of = [&](u64 groups) {
    const ArchLayout layout = arch_layout(groups, lbr_depth);
    return round_up_16(layout.counters != 0 ? layout.counters + counters_bytes : layout.size);
  };
  const u64 everywhere = word & header::MODE_64;
  u64 fragment = word;
  for (const u64 group : later_groups) fragment &= ~group;
  for (const u64 group : later_groups) {
    const u64 added = word & group;
    if (added == 0) continue;
    const bool splits =
        longest != 0 && (added & ~cfg_c::ALLOW_IN_RECORD) != 0 && bytes_of(fragment | added) > longest;
    if (splits) {
      close(fragment | header::CONTINUED, bytes_of(fragment));
      fragment = everywhere;
    }
    fragment |= added;
  }
  close(fragment, bytes_of(fragment));
}

void ArchFragments::close(u64 word, u32 bytes) {
  fragments_[count_++] = {.word = word | bytes, .offset = bytes_, .bytes = bytes};
  bytes_ += bytes;
}

}  // namespace pmusim::pebs

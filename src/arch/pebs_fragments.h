// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ARCH_PEBS_FRAGMENTS_H
#define PMUSIM_ARCH_PEBS_FRAGMENTS_H

#include <array>
#include <span>

#include "pmusim/arch/debug_store.h"

namespace pmusim::pebs {

/// One fragment of an architectural record.
struct ArchFragment {
  u64 word = 0;    ///< of its header: size, continuation and the groups that it has
  u32 offset = 0;  ///< from the start of the record
  u32 bytes = 0;
};

/// An architectural record as one or more fragments. The first has the basic group; each group is whole.
class ArchFragments {
 public:
  /// `word` is the header that the record would have in one piece, without its size; `counters_bytes` the
  /// size of its counters group. Fragments are not longer than `longest` bytes, but for those of a single
  /// group and for the first, which has the basic group at least. 0 leaves the record in one piece.
  ArchFragments(u64 word, u32 lbr_depth, u32 counters_bytes, u32 longest);

  u32 bytes() const { return bytes_; }
  const ArchFragment* begin() const { return fragments_.data(); }
  const ArchFragment* end() const { return fragments_.data() + count_; }

 private:
  void close(u64 word, u32 bytes);

  std::array<ArchFragment, 6> fragments_;
  unsigned count_ = 0;
  u32 bytes_ = 0;
};

}  // namespace pmusim::pebs

#endif

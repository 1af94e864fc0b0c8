// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_MEMORY_H
#define PMUSIM_BASE_MEMORY_H

#include <span>
#include <vector>

#include "pmusim/base/bits.h"
#include "pmusim/base/bus.h"
#include "pmusim/base/state_hash.h"

namespace pmusim {

/// The memory that hardware and driver share: DS area, PEBS and BTS buffers, XSAVE images.
///
/// A handful of regions at linear addresses of the driver's choosing, zero when mapped. It is not the memory
/// of the replayed program. Linear and physical addresses are equal (arch-PEBS programs physical ones).
class Memory {
 public:
  /// Maps `bytes` zeroed bytes at `address`, and returns false if that overlaps a region or wraps.
  [[nodiscard]] bool map(u64 address, u64 bytes);
  /// Maps the caller's bytes, which must stay where they are until they are unmapped, and are shared by
  /// copies of this Memory. False as above.
  [[nodiscard]] bool map(u64 address, std::span<std::byte> bytes);
  /// Removes the region that starts at `address`; false if there is none.
  bool unmap(u64 address);

  /// The `bytes` bytes at `address`, or an empty span where they are not all in one region.
  std::span<std::byte> at(u64 address, u64 bytes);
  std::span<const std::byte> at(u64 address, u64 bytes) const;

  /// Copies out of / into one region. Fault::pf, and nothing copied, where the range is not mapped.
  [[nodiscard]] Fault read(u64 address, std::span<std::byte> out) const;
  [[nodiscard]] Fault write(u64 address, std::span<const std::byte> in);

  /// Every region with its contents, the caller's too.
  void add_to(StateHash& hash) const;

 private:
  struct Region {
    u64 address;
    std::vector<std::byte> own;
    std::span<std::byte> lent;  // the caller's, if not empty
    std::span<const std::byte> bytes() const { return lent.empty() ? std::span<const std::byte>(own) : lent; }
  };
  bool is_free(u64 address, u64 bytes) const;
  bool insert(Region region);
  const Region* find(u64 address, u64 bytes) const;
  std::vector<Region> regions_;  // sorted by address, disjoint
};

}  // namespace pmusim

#endif

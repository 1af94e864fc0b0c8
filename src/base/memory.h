// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_MEMORY_H
#define PMUSIM_BASE_MEMORY_H

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// The memory that hardware and driver share: DS area, PEBS and BTS buffers, XSAVE images.
///
/// A handful of regions at addresses of the driver's choosing, zero when mapped. It is not the memory of the
/// replayed program. A region has a linear address, a physical one, or both; nothing else relates the two.
class Memory {
 public:
  /// Where a region begins; nothing: it cannot be reached by addresses of this kind.
  struct Place {
    std::optional<u64> linear, physical;
    static Place at(u64 address, AddressSpace space = AddressSpace::both) {
      Place place;
      if (space != AddressSpace::physical) place.linear = address;
      if (space != AddressSpace::linear) place.physical = address;
      return place;
    }
    std::pair<u64, u64> order() const { return {linear.value_or(~u64{0}), physical.value_or(~u64{0})}; }
  };

  /// Maps `bytes` zeroed bytes, and returns false if that overlaps a region in either kind of address, or
  /// wraps.
  [[nodiscard]] bool map(const Place& place, u64 bytes);
  /// Maps the caller's bytes, which must stay where they are until they are unmapped, and are shared by
  /// copies of this Memory. False as above.
  [[nodiscard]] bool map(const Place& place, std::span<std::byte> bytes);
  /// The same at a linear and equal physical address.
  [[nodiscard]] bool map(u64 address, u64 bytes) { return map(Place::at(address), bytes); }
  [[nodiscard]] bool map(u64 address, std::span<std::byte> bytes) { return map(Place::at(address), bytes); }
  /// Removes the regions that start at `address` in `space`; false if there is none.
  bool unmap(u64 address, AddressSpace space = AddressSpace::both);

  /// The `bytes` bytes at linear `address`, or an empty span where they are not all in one region.
  std::span<std::byte> at(u64 address, u64 bytes);
  std::span<const std::byte> at(u64 address, u64 bytes) const;
  /// The same of a physical address.
  std::span<std::byte> at_physical(u64 address, u64 bytes);

  /// By linear addresses: copies out of / into one region. Fault::pf, and nothing copied, where the range is
  /// not mapped.
  [[nodiscard]] Fault read(u64 address, std::span<std::byte> out) const;
  [[nodiscard]] Fault write(u64 address, std::span<const std::byte> in);

  /// Every region with its contents, the caller's too.
  void add_to(StateHash& hash) const;

 private:
  struct Region {
    Place place;
    std::vector<std::byte> own;
    std::span<std::byte> lent;  // the caller's, if not empty
    std::span<const std::byte> bytes() const { return lent.empty() ? std::span<const std::byte>(own) : lent; }
  };
  using Start = std::optional<u64> Place::*;
  bool is_free(Start start, const Place& place, u64 bytes) const;
  bool is_free(const Place& place, u64 bytes) const;
  bool insert(Region region);
  std::span<const std::byte> find(Start start, u64 address, u64 bytes) const;
  std::vector<Region> regions_;  // sorted by place, disjoint
};

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_STORE_WINDOW_H
#define PMUSIM_CORE_STORE_WINDOW_H

#include <array>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// The stores that have not left the store buffer yet, as a younger load meets them.
///
/// Hardware compares the lowest 12 bits of a load's address with all of them, and the rest later. So a load
/// that fits into the youngest store it overlaps has its data from there, one that overlaps and does not fit
/// waits until the store has left, and one that overlaps in those 12 bits alone waits for the comparison.
///
/// A table of 8-byte granules, indexed by those bits, leads to the youngest store of each; older ones of the
/// same granule hang behind it.
class StoreWindow {
 public:
  struct Store {
    u64 address = 0, bytes = 0;
    u64 addressed_cycle = 0;  ///< in which its address is known
    u64 data_cycle = 0;       ///< and its data
    u64 left_cycle = 0;       ///< in which it is in the cache
  };
  enum class Meeting : u8 { none, forwarded, blocked, aliased };
  struct Met {
    Meeting how = Meeting::none;
    const Store* store = nullptr;  ///< valid until another is remembered; null with `none`
  };

  /// `stores`: how many are remembered, the size of the store buffer.
  explicit StoreWindow(unsigned stores);

  void remember(const Store& store);
  /// The youngest store is not in the cache before `cycle`.
  void keep_youngest_until(u64 cycle);
  /// What a load that starts in `cycle` meets.
  Met meet(u64 address, u64 bytes, u64 cycle) const;
  /// When the addresses of all older stores are known.
  u64 all_addressed_cycle() const { return all_addressed_cycle_; }

 private:
  static constexpr unsigned granules = 512;  // of 8 bytes: 4 KiB
  static constexpr unsigned granules_of_a_load = 9;
  struct Entry {
    Store store;
    u64 older = 0;  // the store before it in its granule, if it lies in one alone
  };
  bool is_remembered(u64 number) const { return number + stores_ > newest_ && number != 0; }
  Entry& entry(u64 number) { return ring_[number & (ring_.size() - 1)]; }
  const Entry& entry(u64 number) const { return ring_[number & (ring_.size() - 1)]; }

  u64 stores_;
  std::vector<Entry> ring_;               // by the lowest bits of the number of the store
  std::array<u64, granules> youngest_{};  // numbers from 1 on
  u64 newest_ = 0;
  u64 all_addressed_cycle_ = 0;
};

}  // namespace pmusim

#endif

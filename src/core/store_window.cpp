// SPDX-License-Identifier: MIT
#include "core/store_window.h"

#include <algorithm>
#include <bit>

namespace pmusim {
namespace {

constexpr u64 granule_shift = 3, alias_bytes = 4096;

bool overlaps(const StoreWindow::Store& store, u64 address, u64 bytes) {
  return address - store.address < store.bytes || store.address - address < bytes;
}

bool contains(const StoreWindow::Store& store, u64 address, u64 bytes) {
  return address - store.address < store.bytes && bytes <= store.bytes - (address - store.address);
}

bool overlaps_in_low_bits(const StoreWindow::Store& store, u64 address, u64 bytes) {
  return (address - store.address) % alias_bytes < store.bytes ||
         (store.address - address) % alias_bytes < bytes;
}

u64 granules_of(u64 address, u64 bytes) {
  return ((address + bytes - 1) >> granule_shift) - (address >> granule_shift) + 1;
}

}  // namespace

StoreWindow::StoreWindow(unsigned stores) : stores_(stores), ring_(std::bit_ceil(std::size_t{stores})) {}

void StoreWindow::remember(const Store& store) {
  Entry& made = entry(++newest_);
  made.store = store;
  made.older = 0;
  all_addressed_cycle_ = std::max(all_addressed_cycle_, store.addressed_cycle);
  const u64 first = store.address >> granule_shift;
  const u64 count = std::min<u64>(granules_of(store.address, store.bytes), granules);
  if (count == 1) made.older = youngest_[first % granules];
  for (u64 n = 0; n < count; ++n) youngest_[(first + n) % granules] = newest_;
}

void StoreWindow::keep_youngest_until(u64 cycle) {
  u64& left = entry(newest_).store.left_cycle;
  left = std::max(left, cycle);
}

StoreWindow::Met StoreWindow::meet(u64 address, u64 bytes, u64 cycle) const {
  Met met;
  u64 met_number = 0;
  const u64 first = address >> granule_shift;
  const u64 count = std::min<u64>(granules_of(address, bytes), granules_of_a_load);
  for (u64 n = 0; n < count; ++n) {
    u64 number = youngest_[(first + n) % granules];
    for (u64 left = stores_; left != 0 && is_remembered(number); --left) {
      const Entry& older = entry(number);
      if (older.store.left_cycle <= cycle) break;  // and so have those before it
      if (overlaps(older.store, address, bytes)) {
        if (number <= met_number) break;
        const bool fits = contains(older.store, address, bytes);
        met = {fits ? Meeting::forwarded : Meeting::blocked, &older.store};
        met_number = number;
        break;
      }
      if (met.how == Meeting::none && overlaps_in_low_bits(older.store, address, bytes))
        met = {Meeting::aliased, &older.store};
      number = older.older;
    }
  }
  return met;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "core/store_window.h"

#include <gtest/gtest.h>

#include <random>

namespace pmusim {
namespace {

using Store = StoreWindow::Store;
using enum StoreWindow::Meeting;

TEST(StoreWindow, ALoadWithinAStoreIsForwarded) {
  StoreWindow window(8);
  window.remember({.address = 0x100, .bytes = 16, .data_cycle = 7, .left_cycle = 50});
  const auto met = window.meet(0x108, 8, 10);
  EXPECT_EQ(met.how, forwarded);
  EXPECT_EQ(met.store->data_cycle, 7u);
}

TEST(StoreWindow, ALoadLargerThanAStoreIsBlocked) {
  StoreWindow window(8);
  window.remember({.address = 0x100, .bytes = 4, .left_cycle = 50});
  window.remember({.address = 0x104, .bytes = 4, .left_cycle = 50});
  EXPECT_EQ(window.meet(0x100, 8, 10).how, blocked);
  EXPECT_EQ(window.meet(0x100, 4, 10).how, forwarded);
  EXPECT_EQ(window.meet(0x104, 4, 10).how, forwarded);
}

TEST(StoreWindow, AStoreThatHasLeftIsMetNoMore) {
  StoreWindow window(8);
  window.remember({.address = 0x100, .bytes = 4, .left_cycle = 50});
  EXPECT_EQ(window.meet(0x100, 8, 49).how, blocked);
  EXPECT_EQ(window.meet(0x100, 8, 50).how, none);
}

TEST(StoreWindow, TheSameAddressIn4KiBFurtherIsAnAlias) {
  StoreWindow window(8);
  window.remember({.address = 0x5100, .bytes = 8, .left_cycle = 50});
  EXPECT_EQ(window.meet(0x7104, 4, 10).how, aliased);
  EXPECT_EQ(window.meet(0x7108, 8, 10).how, none);
}

TEST(StoreWindow, TheYoungestStoreCounts) {
  StoreWindow window(8);
  window.remember({.address = 0x100, .bytes = 8, .data_cycle = 1, .left_cycle = 50});
  window.remember({.address = 0x100, .bytes = 8, .data_cycle = 2, .left_cycle = 60});
  EXPECT_EQ(window.meet(0x100, 8, 10).store->data_cycle, 2u);
}

// Every store, oldest first, byte by byte.
StoreWindow::Meeting naive(const std::vector<Store>& stores, u64 address, u64 bytes, u64 cycle) {
  bool alias = false;
  for (auto store = stores.rbegin(); store != stores.rend() && store->left_cycle > cycle; ++store) {
    u64 shared = 0;
    for (u64 byte = address; byte < address + bytes; ++byte) {
      shared += byte >= store->address && byte < store->address + store->bytes;
      for (u64 theirs = store->address; theirs < store->address + store->bytes; ++theirs)
        alias |= byte % 4096 == theirs % 4096;
    }
    if (shared != 0) return shared == bytes ? forwarded : blocked;
  }
  return alias ? aliased : none;
}

// Aligned accesses, of which none hides an older one of another granule.
TEST(StoreWindow, MeetsWhatANaiveOneMeets) {
  constexpr unsigned capacity = 12;
  std::mt19937_64 random(1);
  StoreWindow window(capacity);
  std::vector<Store> stores;
  const auto access = [&] {
    const u64 bytes = u64{1} << random() % 4;
    return std::pair(random() % 3 * 4096 + random() % 6 * 8 + random() % (8 / bytes) * bytes, bytes);
  };
  for (u64 cycle = 0, left = 0; cycle < 20'000; ++cycle) {
    const auto [address, bytes] = access();
    if (random() % 2 != 0) {
      left = std::max(left, cycle + random() % 6);
      stores.push_back({.address = address, .bytes = bytes, .left_cycle = left});
      if (stores.size() > capacity) stores.erase(stores.begin());
      window.remember(stores.back());
    } else {
      ASSERT_EQ(window.meet(address, bytes, cycle).how, naive(stores, address, bytes, cycle)) << cycle;
    }
  }
}

}  // namespace
}  // namespace pmusim

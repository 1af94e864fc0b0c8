// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_NAIVE_CACHE_H
#define PMUSIM_TESTS_SUPPORT_NAIVE_CACHE_H

#include <list>
#include <map>

#include "pmusim/base/types.h"

namespace pmusim::test {

/// A cache or a TLB whose sets are lists in order of use; nothing else.
class NaiveCache {
 public:
  NaiveCache(u64 sets, std::size_t ways) : sets_(sets), ways_(ways) {}
  /// Whether it was there.
  bool touch(u64 key) {
    std::list<u64>& set = lists_[key % sets_];
    const bool hit = std::erase(set, key) != 0;
    set.push_front(key);
    if (set.size() > ways_) set.pop_back();
    return hit;
  }
  /// Whether it was there until now.
  bool erase(u64 key) { return std::erase(lists_[key % sets_], key) != 0; }

 private:
  u64 sets_;
  std::size_t ways_;
  std::map<u64, std::list<u64>> lists_;
};

}  // namespace pmusim::test

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_SET_ASSOCIATIVE_H
#define PMUSIM_CORE_SET_ASSOCIATIVE_H

#include <algorithm>
#include <bit>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim {

/// A table as hardware builds it: `sets` of `ways` entries, true LRU within a set. Caches, TLBs and branch
/// target buffers are all one of these. Key ~0 means empty and is never looked up.
///
/// Invariant: the entries of a set stand in the order of their last use, newest first, so that the common
/// case (the newest entry again) touches one entry and moves nothing.
template <class Value>
class SetAssociative {
 public:
  /// Both at least 1.
  SetAssociative(std::size_t sets, std::size_t ways)
      : sets_(sets),
        ways_(ways),
        entries_(sets * ways),
        inverse_(std::has_single_bit(sets) ? 0 : ~u64{0} / sets) {}

  /// The value of `key`, which becomes the newest of its set; null if it is not there.
  Value* find(u64 key) {
    Entry* const set = first_of_set(key);
    if (set[0].key == key) return &set[0].value;
    for (std::size_t way = 1; way < ways_; ++way) {
      if (set[way].key != key) continue;
      const Entry found = set[way];
      std::move_backward(set, set + way, set + way + 1);
      set[0] = found;
      return &set[0].value;
    }
    return nullptr;
  }

  /// Whether `key` is there; its place in the order stays.
  bool has(u64 key) const {
    const Entry* const set = first_of_set(key);
    return std::any_of(set, set + ways_, [&](const Entry& entry) { return entry.key == key; });
  }

  /// Puts a key that is not there in the place of the least recently used of its set.
  Value& insert(u64 key, Value value) {
    Entry* const set = first_of_set(key);
    std::move_backward(set, set + ways_ - 1, set + ways_);
    set[0] = Entry{key, value};
    return set[0].value;
  }

  /// Keys that there is room for.
  std::size_t size() const { return entries_.size(); }

  /// Calls `change(Value&)` for all that is there.
  template <class Change>
  void for_each(Change&& change) {
    for (Entry& entry : entries_)
      if (entry.key != ~u64{0}) change(entry.value);
  }

  /// Calls `take(key, value)` for all that is there, of each set the least recently used first.
  template <class Take>
  void for_each_from_oldest(Take&& take) const {
    for (std::size_t set = 0; set < entries_.size(); set += ways_)
      for (std::size_t way = ways_; way-- != 0;)
        if (const Entry& entry = entries_[set + way]; entry.key != ~u64{0}) take(entry.key, entry.value);
  }

  /// Takes a key out, if it is there.
  void erase(u64 key) {
    Entry* const set = first_of_set(key);
    Entry* const end = set + ways_;
    Entry* const found = std::find_if(set, end, [&](const Entry& entry) { return entry.key == key; });
    if (found == end) return;
    std::move(found + 1, end, found);
    *(end - 1) = Entry{};
  }

 private:
  struct Entry {
    u64 key = ~u64{0};
    Value value{};
  };
  std::size_t set_of(u64 key) const { return (inverse_ == 0 ? key & (sets_ - 1) : remainder(key)) * ways_; }
  // key % sets_: the quotient by the inverse is right or one too small.
  u64 remainder(u64 key) const {
    __extension__ using u128 = unsigned __int128;
    const u64 rest = key - static_cast<u64>(static_cast<u128>(key) * inverse_ >> 64) * sets_;
    return rest >= sets_ ? rest - sets_ : rest;
  }
  Entry* first_of_set(u64 key) { return &entries_[set_of(key)]; }
  const Entry* first_of_set(u64 key) const { return &entries_[set_of(key)]; }
  std::size_t sets_, ways_;
  std::vector<Entry> entries_;
  u64 inverse_;  // 2^64 / sets_, rounded down; 0 for a power of two
};

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_PAIR_TABLE_H
#define PMUSIM_SRC_ANNOTATE_PAIR_TABLE_H

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::annotate {

/// Values found by two words, in the order in which they came. `Value` has key() and can be made of two
/// words. Open addressing over indices: digesting branch stacks is little else than looking up here.
template <class Value>
class PairTable {
 public:
  /// The value of this key, new if there was none. Valid until the next call.
  Value& operator()(u64 a, u64 b) { return value_at(mixed(a, b), a, b); }

  /// Calls visit(i, value) with the value of key(i), a pair, for every i below `count`, in order.
  ///
  /// Tables larger than the caches cost a wait for memory at every look-up. Here the memory of a batch of
  /// keys is asked for before the first of them is looked at, so that the waits overlap.
  template <class Key, class Visit>
  void visit_each(std::size_t count, Key key, Visit visit) {
    for (std::size_t first = 0; first < count; first += batch) {
      std::array<std::size_t, batch> hashes;
      const std::size_t keys = std::min(batch, count - first);
      for (std::size_t i = 0; i < keys; ++i) hashes[i] = ask_for_slot(key(first + i));
      for (std::size_t i = 0; i < keys; ++i) ask_for_value(hashes[i]);
      for (std::size_t i = 0; i < keys; ++i) {
        const auto [a, b] = key(first + i);
        visit(first + i, value_at(hashes[i], a, b));
      }
    }
  }
  /// nullptr if there is none.
  const Value* find(u64 a, u64 b) const {
    if (slots_.empty()) return nullptr;
    const u32 slot = const_cast<PairTable*>(this)->slot_of(mixed(a, b), a, b);
    return slot == empty ? nullptr : &values_[slot];
  }
  const std::vector<Value>& values() const { return values_; }
  std::vector<Value>& values() { return values_; }

 private:
  static constexpr u32 empty = ~u32{0};
  static constexpr std::size_t batch = 32;  // as many as a branch stack has entries

  static std::size_t mixed(u64 a, u64 b) {
    u64 h = a * 0x9E3779B97F4A7C15;
    h = (h ^ (h >> 32) ^ b) * 0xD6E8FEB86659FD93;
    h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
  std::size_t ask_for_slot(const std::pair<u64, u64>& key) const {
    const std::size_t hash = mixed(key.first, key.second);
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)], 0);
    return hash;
  }
  void ask_for_value(std::size_t hash) const {
    if (slots_.empty()) return;
    const u32 slot = slots_[hash & (slots_.size() - 1)];
    if (slot != empty) __builtin_prefetch(&values_[slot], 1);
  }

  Value& value_at(std::size_t hash, u64 a, u64 b) {
    if (2 * (values_.size() + 1) > slots_.size()) grow();
    u32& slot = slot_of(hash, a, b);
    if (slot == empty) {
      slot = static_cast<u32>(values_.size());
      values_.push_back(Value{a, b});
    }
    return values_[slot];
  }
  u32& slot_of(std::size_t hash, u64 a, u64 b) {
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at] != empty && values_[slots_[at]].key() != std::pair(a, b))
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), empty);
    for (u32 i = 0; i < values_.size(); ++i) {
      const auto [a, b] = values_[i].key();
      slot_of(mixed(a, b), a, b) = i;
    }
  }

  std::vector<u32> slots_;
  std::vector<Value> values_;
};

}  // namespace pmusim::annotate

#endif

#ifndef PMUSIM_ANNOTATE_PAIR_TABLE_H
#define PMUSIM_ANNOTATE_PAIR_TABLE_H

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
  Value& operator()(u64 a, u64 b) {
    if (2 * (values_.size() + 1) > slots_.size()) grow();
    u32& slot = slot_of(a, b);
    if (slot == empty) {
      slot = static_cast<u32>(values_.size());
      values_.push_back(Value{a, b});
    }
    return values_[slot];
  }
  /// nullptr if there is none.
  const Value* find(u64 a, u64 b) const {
    if (slots_.empty()) return nullptr;
    const u32 slot = const_cast<PairTable*>(this)->slot_of(a, b);
    return slot == empty ? nullptr : &values_[slot];
  }
  const std::vector<Value>& values() const { return values_; }
  std::vector<Value>& values() { return values_; }

 private:
  static constexpr u32 empty = ~u32{0};

  static std::size_t mixed(u64 a, u64 b) {
    u64 h = a * 0x9E3779B97F4A7C15;
    h = (h ^ (h >> 32) ^ b) * 0xD6E8FEB86659FD93;
    h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
  u32& slot_of(u64 a, u64 b) {
    std::size_t at = mixed(a, b) & (slots_.size() - 1);
    while (slots_[at] != empty && values_[slots_[at]].key() != std::pair(a, b))
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), empty);
    for (u32 i = 0; i < values_.size(); ++i) {
      const auto [a, b] = values_[i].key();
      slot_of(a, b) = i;
    }
  }

  std::vector<u32> slots_;
  std::vector<Value> values_;
};

}  // namespace pmusim::annotate

#endif

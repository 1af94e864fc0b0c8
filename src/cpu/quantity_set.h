// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_QUANTITY_SET_H
#define PMUSIM_CPU_QUANTITY_SET_H

#include <array>
#include <bit>
#include <initializer_list>

#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// A set of quantities.
class QuantitySet {
 public:
  constexpr QuantitySet() = default;
  constexpr QuantitySet(std::initializer_list<Quantity> quantities) {
    for (const Quantity each : quantities) add(each);
  }
  /// All from one to another in the order of Quantity, both included.
  static constexpr QuantitySet range(Quantity first, Quantity last) {
    QuantitySet set;
    for (unsigned n = index(first); n <= index(last); ++n) set.add(static_cast<Quantity>(n));
    return set;
  }

  constexpr void add(Quantity quantity) { words_[index(quantity) / 64] |= bit(index(quantity) % 64); }
  constexpr bool has(Quantity quantity) const {
    return (words_[index(quantity) / 64] & bit(index(quantity) % 64)) != 0;
  }
  constexpr bool contains(const QuantitySet& other) const {
    return (other.words_[0] & ~words_[0]) == 0 && (other.words_[1] & ~words_[1]) == 0;
  }
  constexpr bool empty() const { return (words_[0] | words_[1]) == 0; }
  constexpr bool intersects(const QuantitySet& other) const {
    return ((words_[0] & other.words_[0]) | (words_[1] & other.words_[1])) != 0;
  }
  constexpr QuantitySet operator|(const QuantitySet& other) const {
    QuantitySet sum = *this;
    sum.words_[0] |= other.words_[0];
    sum.words_[1] |= other.words_[1];
    return sum;
  }
  /// Calls `visit(index)` for each, lowest first.
  template <class Visit>
  constexpr void each_index(Visit&& visit) const {
    for (unsigned word = 0; word < words_.size(); ++word)
      for (u64 left = words_[word]; left != 0; left &= left - 1)
        visit(64 * word + static_cast<unsigned>(std::countr_zero(left)));
  }
  friend constexpr bool operator==(const QuantitySet&, const QuantitySet&) = default;

 private:
  static constexpr unsigned index(Quantity quantity) { return static_cast<unsigned>(quantity); }
  std::array<u64, 2> words_{};
};
static_assert(static_cast<unsigned>(Quantity::count_) <= 128);

/// All that a rule adds up or leaves out. Empty: it goes by signals.
constexpr QuantitySet quantities_of(const EventRule& rule) {
  QuantitySet all;
  if (rule.quantity == Quantity::none) return all;
  all.add(rule.quantity);
  for (const Quantity more : rule.plus)
    if (more != Quantity::none) all.add(more);
  if (rule.minus != Quantity::none) all.add(rule.minus);
  return all;
}

}  // namespace pmusim

#endif

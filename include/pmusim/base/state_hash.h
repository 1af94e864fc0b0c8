// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_STATE_HASH_H
#define PMUSIM_BASE_STATE_HASH_H

#include <bit>
#include <ranges>
#include <span>
#include <type_traits>

#include "pmusim/base/bits.h"

namespace pmusim {

/// A number that stands for a state: equal states have equal numbers, on every machine, and different ones
/// differ but for one pair in 2^64. Add the values that make up the state, always in the same order:
///
///     StateHash hash;
///     hash.add(driver.active, driver.periods);  // integers, enums, ranges, what has add_to(StateHash&)
///     hash.value();
///
/// Where the number of values varies (a list, a buffer), their count is part of the state: `add` of a range
/// adds it.
class StateHash {
 public:
  template <class... Values>
  void add(const Values&... values) {
    (add_one(values), ...);
  }
  /// Memory, eight bytes at a time.
  void add_bytes(std::span<const std::byte> bytes);

  u64 value() const { return value_; }

 private:
  /// A bijection of the sum of the state and the word (MurmurHash3's finalizer).
  void add_word(u64 word) {
    u64 mixed = std::rotl(value_, 5) + word + 0x9E3779B97F4A7C15;
    mixed = (mixed ^ mixed >> 33) * 0xFF51AFD7ED558CCD;
    mixed = (mixed ^ mixed >> 33) * 0xC4CEB9FE1A85EC53;
    value_ = mixed ^ mixed >> 33;
  }
  template <class T>
  void add_one(const T& value) {
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      add_word(static_cast<u64>(value));
    } else if constexpr (std::ranges::sized_range<const T>) {
      add_word(std::ranges::size(value));
      for (const auto& element : value) add_one(element);
    } else {
      value.add_to(*this);
    }
  }

  u64 value_ = 0;
};

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_BASE_BITS_H
#define PMUSIM_BASE_BITS_H

#include <bit>
#include <cstddef>
#include <cstdint>

namespace pmusim {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// The value with only bit `n` (0..63) set.
constexpr u64 bit(unsigned n) { return u64{1} << n; }

/// The value with the lowest `n` (0..64) bits set.
constexpr u64 low_bits(unsigned n) { return n >= 64 ? ~u64{0} : bit(n) - 1; }

/// The value with bits `high`..`low` set, written as manuals do: `bits(11, 8)` is 0xF00.
constexpr u64 bits(unsigned high, unsigned low) { return low_bits(high + 1) & ~low_bits(low); }

/// The field `high`..`low` of `value`, shifted down.
constexpr u64 field(u64 value, unsigned high, unsigned low) { return (value & bits(high, low)) >> low; }

/// `value` shifted up into the field `high`..`low`; bits that do not fit are dropped.
constexpr u64 to_field(u64 value, unsigned high, unsigned low) { return (value << low) & bits(high, low); }

/// Copies bit `sign` (0..63) into every bit above it.
constexpr u64 sign_extend(u64 value, unsigned sign) {
  const unsigned shift = 63 - sign;
  return static_cast<u64>(static_cast<i64>(value << shift) >> shift);
}

/// True when an address is canonical for `address_bits` (48 or 57) wide linear addresses.
constexpr bool is_canonical(u64 address, unsigned address_bits = 48) {
  return sign_extend(address, address_bits - 1) == address;
}

/// Iterates over the set bits of a mask, lowest first: `for (unsigned n : set_bits(mask))`.
class set_bits {
 public:
  explicit constexpr set_bits(u64 mask) : mask_(mask) {}
  class iterator {
   public:
    explicit constexpr iterator(u64 rest) : rest_(rest) {}
    constexpr unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(rest_)); }
    constexpr iterator& operator++() {
      rest_ &= rest_ - 1;
      return *this;
    }
    constexpr bool operator!=(const iterator& other) const { return rest_ != other.rest_; }

   private:
    u64 rest_;
  };
  constexpr iterator begin() const { return iterator(mask_); }
  constexpr iterator end() const { return iterator(0); }

 private:
  u64 mask_;
};

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_FUZZ_INPUT_H
#define PMUSIM_TESTS_SUPPORT_FUZZ_INPUT_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "pmusim/base/types.h"

namespace pmusim {

/// The bytes of a fuzzer as a row of choices, all zero behind their end: every prefix of an input is one.
///
///     for (FuzzInput input(data, size); !input.empty();) step(input.below(7), input.number());
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : left_(data, size) {}

  bool empty() const { return left_.empty(); }
  std::span<const std::uint8_t> bytes(std::size_t count) {
    const auto taken = left_.first(std::min(count, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  /// A plain value, byte for byte.
  template <class T>
  T take() {
    T value{};
    const auto taken = bytes(sizeof value);
    if (!taken.empty()) std::memcpy(&value, taken.data(), taken.size());
    return value;
  }
  bool flag() { return (take<std::uint8_t>() & 1) != 0; }
  /// Below `limit`, which is at most 65536.
  std::size_t below(std::size_t limit) {
    return limit <= 256 ? take<std::uint8_t>() % limit : take<std::uint16_t>() % limit;
  }
  template <class Range>
  decltype(auto) pick(Range&& range) {
    return range[below(std::size(range))];
  }
  /// A number as registers and attributes like them: small, one bit, all bits but few, or anything.
  u64 number() {
    switch (below(8)) {
      case 0:
        return 0;
      case 1:
      case 2:
        return take<std::uint8_t>();
      case 3:
        return bit(static_cast<unsigned>(below(64)));
      case 4:
        return ~u64{take<std::uint8_t>()};
      case 5:
        return take<std::uint32_t>();
      case 6:
        return bit(static_cast<unsigned>(below(64))) | bit(static_cast<unsigned>(below(64)));
      default:
        return take<u64>();
    }
  }

 private:
  std::span<const std::uint8_t> left_;
};

/// What must hold whatever the input is. A fuzzer ends where it does not.
inline void must(bool holds, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: does not hold\n", file, line);
  std::abort();
}

}  // namespace pmusim

#endif

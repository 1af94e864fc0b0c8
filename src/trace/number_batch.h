// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_NUMBER_BATCH_H
#define PMUSIM_TRACE_NUMBER_BATCH_H

#include <algorithm>
#include <array>
#include <utility>

#include "trace/bytes.h"

namespace pmusim::trace {

/// The numbers of a stream, decoded some hundred at a time.
///
/// How long the next number is depends on the one before, which a processor can only guess. So the ends of
/// all numbers within 64 bytes are found first, and where each number stands is known without a guess.
class NumberBatch {
 public:
  static constexpr std::size_t capacity = 1024;

  NumberBatch() = default;
  explicit NumberBatch(ByteReader from) : from_(from) {}

  /// The next `count`, at most `capacity`; null where so many do not follow. Valid until the next call.
  const u64* take(std::size_t count) {
    if (left_ < count) refill();
    if (left_ < count) return nullptr;
    left_ -= count;
    return numbers_.data() + std::exchange(next_, next_ + count);
  }
  bool at_end() const { return left_ == 0 && from_.ok() && from_.at_end(); }

 private:
  void refill() {
    std::copy_n(numbers_.begin() + static_cast<std::ptrdiff_t>(next_), left_, numbers_.begin());
    next_ = 0;
    while (left_ < capacity && !from_.at_end()) {
      const std::size_t decoded = from_.numbers(std::span(numbers_).subspan(left_));
      if (decoded == 0) return;
      left_ += decoded;
    }
  }

  ByteReader from_;
  std::array<u64, capacity> numbers_{};
  std::size_t next_ = 0, left_ = 0;
};

}  // namespace pmusim::trace

#endif

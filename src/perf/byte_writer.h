// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_BYTE_WRITER_H
#define PMUSIM_SRC_PERF_BYTE_WRITER_H

#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "pmusim/base/types.h"

namespace pmusim::perf {

/// `n` rounded up to a multiple of 8: every record and every variable part of one is padded so.
constexpr std::size_t padded(std::size_t n) { return (n + 7) & ~std::size_t{7}; }

/// Bytes that a name takes in a record: with its NUL, padded.
constexpr std::size_t padded_name(std::string_view name) { return padded(name.size() + 1); }

/// Fills memory that the caller has sized, value by value.
class ByteWriter {
 public:
  explicit ByteWriter(std::byte* at) : at_(at) {}
  std::byte* at() const { return at_; }

  template <class T>
  void put(const T& value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void put_words(u64 first, u64 second) { put(std::array{first, second}); }
  void put_two(u32 low, u32 high) { put(u64{high} << 32 | low); }
  template <class T, std::size_t N>
  void put_all(std::span<const T, N> values) {
    if (!values.empty()) std::memcpy(at_, values.data(), values.size_bytes());
    at_ += values.size_bytes();
  }
  void put_zeros(std::size_t bytes) {
    std::memset(at_, 0, bytes);
    at_ += bytes;
  }
  void put_name(std::string_view name) {
    put_all(std::span(name.data(), name.size()));
    put_zeros(padded_name(name) - name.size());
  }

 private:
  std::byte* at_;
};

}  // namespace pmusim::perf

#endif

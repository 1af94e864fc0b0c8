// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_BYTES_H
#define PMUSIM_TRACE_BYTES_H

#include <bit>
#include <boost/endian/conversion.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::trace {

/// Signed differences as small unsigned numbers: 0, -1, 1, -2, ...
constexpr u64 zigzag(u64 difference) {
  return (difference << 1) ^ static_cast<u64>(static_cast<i64>(difference) >> 63);
}
constexpr u64 unzigzag(u64 code) { return (code >> 1) ^ (~(code & 1) + 1); }

/// Appends numbers to a stream: seven bits per byte, lowest first, the top bit set in all but the last byte.
class ByteWriter {
 public:
  void byte(u8 value) { data_.push_back(value); }
  void number(u64 value) {
    while (value >= 0x80) {
      data_.push_back(static_cast<u8>(value | 0x80));
      value >>= 7;
    }
    data_.push_back(static_cast<u8>(value));
  }
  void difference(u64 value) { number(zigzag(value)); }
  void bytes(std::span<const u8> values) { data_.insert(data_.end(), values.begin(), values.end()); }
  void text(std::string_view value) {
    number(value.size());
    data_.insert(data_.end(), value.begin(), value.end());
  }
  const std::vector<u8>& data() const { return data_; }
  std::size_t size() const { return data_.size(); }
  void clear() { data_.clear(); }

 private:
  std::vector<u8> data_;
};

/// Reads what ByteWriter wrote. Past the end everything is 0 and `ok()` stays false: a decoder checks once
/// per item, not once per number.
class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::span<const u8> data) : data_(data) {}

  u8 byte() { return position_ < data_.size() ? data_[position_++] : fail(); }
  u64 number() {
    if (data_.size() - position_ < sizeof(u64)) return last_number();
    const u64 next = boost::endian::load_little_u64(data_.data() + position_);
    if ((next & 0x80) == 0) return ++position_, next & 0x7F;  // most are
    const u64 ends = ~next & 0x8080'8080'8080'8080;
    if (ends == 0) return last_number();
    position_ += static_cast<unsigned>(std::countr_zero(ends)) / 8 + 1;
    return joined(next & (ends ^ (ends - 1)));
  }
  u64 difference() { return unzigzag(number()); }
  /// The next byte, which stays there; 0 at the end.
  u8 peek() const { return position_ < data_.size() ? data_[position_] : u8{0}; }
  /// Passes bytes that are there.
  void skip(unsigned count) { position_ += count; }
  std::size_t left() const { return data_.size() - position_; }
  std::span<const u8> bytes(u64 count) {
    if (count > data_.size() - position_) return fail(), std::span<const u8>{};
    const auto result = data_.subspan(position_, static_cast<std::size_t>(count));
    position_ += result.size();
    return result;
  }
  std::string text() {
    const auto value = bytes(number());
    return {value.begin(), value.end()};
  }
  bool ok() const { return ok_; }
  bool at_end() const { return position_ == data_.size(); }

 private:
  /// The seven bits of each of eight bytes, side by side.
  static constexpr u64 joined(u64 bytes) {
    bytes = (bytes & 0x007F'007F'007F'007F) | (bytes & 0x7F00'7F00'7F00'7F00) >> 1;
    bytes = (bytes & 0x0000'3FFF'0000'3FFF) | (bytes & 0x3FFF'0000'3FFF'0000) >> 2;
    return (bytes & 0x0FFF'FFFF) | (bytes & 0x0FFF'FFFF'0000'0000) >> 4;
  }
  /// A number byte by byte: near the end, or longer than eight.
  u64 last_number() {
    u64 value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const u8 b = byte();
      value |= u64{b & 0x7Fu} << shift;
      if (b < 0x80) return value;
    }
    return fail();
  }
  u8 fail() {
    ok_ = false;
    position_ = data_.size();
    return 0;
  }
  std::span<const u8> data_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace pmusim::trace

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_BYTE_READER_H
#define PMUSIM_SRC_PERFDATA_BYTE_READER_H

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::perfdata {

/// Takes values off the front of bytes that may be anything. Past the end everything is zero or empty, and
/// ok() stays false: the caller checks once, when done.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  /// Bytes not taken yet.
  std::size_t rest() const { return rest_.size(); }
  /// The bytes contradict each other: as if they had ended.
  void fail() {
    ok_ = false;
    rest_ = {};
  }

  template <class T>
  T take() {
    T value{};
    const auto bytes = take_bytes(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take_bytes(u64 n) {
    if (n > rest_.size()) {
      fail();
      return {};
    }
    const auto taken = rest_.first(static_cast<std::size_t>(n));
    rest_ = rest_.subspan(static_cast<std::size_t>(n));
    return taken;
  }
  template <class T>
  std::vector<T> take_all(u64 n) {
    if (n > rest_.size() / sizeof(T)) {
      fail();
      return {};
    }
    const auto bytes = take_bytes(n * sizeof(T));
    std::vector<T> values(static_cast<std::size_t>(n));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  /// Characters up to the NUL, or all `n` bytes if there is none.
  std::string take_text(u64 n) {
    const auto bytes = take_bytes(n);
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    return {begin, bytes.empty() ? 0 : strnlen(begin, bytes.size())};
  }
  /// The characters in front of the next NUL, and the NUL.
  std::string take_until_nul() {
    const auto* begin = reinterpret_cast<const char*>(rest_.data());
    const std::size_t length = rest_.empty() ? 0 : strnlen(begin, rest_.size());
    return take_text(length + 1);
  }
  std::string take_rest_as_text() { return take_text(rest_.size()); }
  /// A string as features have it: its length, then the padded characters.
  std::string take_string() { return take_text(take<u32>()); }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace pmusim::perfdata

#endif

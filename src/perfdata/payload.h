// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERFDATA_PAYLOAD_H
#define PMUSIM_SRC_PERFDATA_PAYLOAD_H

#include <span>
#include <string>
#include <string_view>

#include "pmusim/base/types.h"

namespace pmusim::perfdata {

/// Bytes of a feature or a user record under construction. Nothing is aligned but what the format pads.
class Payload {
 public:
  template <class T>
  void put(const T& value) {
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void put_zeros(std::size_t n) { bytes_.append(n, char{0}); }
  /// A length, then the characters, NUL and zeros up to a multiple of 64, as perf itself writes them.
  void put_string(std::string_view text) {
    const std::size_t length = (text.size() + 64) / 64 * 64;
    put(static_cast<u32>(length));
    put_padded(text, length);
  }
  void put_padded(std::string_view text, std::size_t bytes) {
    put_bytes(std::as_bytes(std::span(text.data(), text.size())));
    put_zeros(bytes - text.size());
  }

  std::size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

}  // namespace pmusim::perfdata

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_PROTOBUF_WRITER_H
#define PMUSIM_SRC_ANNOTATE_PROTOBUF_WRITER_H

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "pmusim/base/types.h"

namespace pmusim::annotate {

/// A message in the wire format of protocol buffers (protobuf.dev, "Encoding"): fields of numbers, and of
/// bytes with their length.
class ProtobufWriter {
 public:
  ProtobufWriter& number(u32 field, u64 value) {
    put(u64{field} << 3);
    put(value);
    return *this;
  }
  ProtobufWriter& bytes(u32 field, std::string_view value) {
    put(u64{field} << 3 | 2);
    put(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufWriter& message(u32 field, const ProtobufWriter& value) { return bytes(field, value.bytes_); }
  ProtobufWriter& packed(u32 field, std::span<const u64> values) {
    ProtobufWriter all;
    for (const u64 value : values) all.put(value);
    return message(field, all);
  }
  std::string take() { return std::move(bytes_); }

 private:
  /// Seven bits to a byte, the lowest first; the highest bit says that more follow.
  void put(u64 value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace pmusim::annotate

#endif

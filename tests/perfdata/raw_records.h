// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PERFDATA_RAW_RECORDS_H
#define PMUSIM_TESTS_PERFDATA_RAW_RECORDS_H

#include <cstring>
#include <span>
#include <vector>

#include "perfdata/payload.h"
#include "pmusim/perf/abi.h"

/// Records that the writer does not write.
namespace pmusim::perfdata {

using Bytes = std::vector<std::byte>;

inline void append(Bytes& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

inline Bytes bytes_of(const Payload& payload) { return {payload.bytes().begin(), payload.bytes().end()}; }

inline Bytes user_record(u32 type, const Payload& payload) {
  Payload record;
  record.put(perf::RecordHeader{type, 0, static_cast<u16>(8 + payload.size())});
  record.put_bytes(payload.bytes());
  return bytes_of(record);
}

/// COMPRESSED records (81) as perf 6.16 and later write them: type 83, the size of the data, the data,
/// padding.
inline Bytes with_second_form_of_compression(const Bytes& stream) {
  Bytes changed(stream.begin(), stream.begin() + 16);
  for (std::size_t at = 16; at < stream.size();) {
    perf::RecordHeader header;
    std::memcpy(&header, stream.data() + at, sizeof header);
    const auto record = std::span(stream).subspan(at, header.size);
    at += header.size;
    if (header.type != 81) {
      append(changed, record);
      continue;
    }
    Payload payload;
    payload.put(u64{record.size() - 8});
    payload.put_bytes(record.subspan(8));
    payload.put_zeros((8 - payload.size() % 8) % 8);
    append(changed, user_record(83, payload));
  }
  return changed;
}

}  // namespace pmusim::perfdata

#endif

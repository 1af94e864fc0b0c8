// SPDX-License-Identifier: MIT
#include "perfdata/record_scan.h"

#include <algorithm>
#include <cstring>

#include "perf/sample_fields.h"

namespace pmusim::perfdata {

using perf::RecordHeader;

RecordScan::RecordScan(u64 sample_type) {
  if ((sample_type & perf::sample::TIME) != 0)
    time_offset_ = perf::sample_offset(perf::SampleField::time, sample_type);
}

bool RecordScan::feed(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    RecordHeader header;
    if (known_ == 0 && bytes.size() >= sizeof header) {  // the common case: a whole record in this piece
      std::memcpy(&header, bytes.data(), sizeof header);
      if (header.size < sizeof header) return false;
      if (header.size <= bytes.size()) {
        note(bytes.data());
        bytes = bytes.subspan(header.size);
        continue;
      }
    }
    std::size_t take = known_ < sizeof header ? sizeof header - known_ : 0;
    if (take == 0) {
      std::memcpy(&header, start_.data(), sizeof header);
      take = header.size - known_;
    }
    take = std::min(take, bytes.size());
    const std::size_t keep = known_ < start_.size() ? std::min(take, start_.size() - known_) : 0;
    if (keep != 0) std::memcpy(start_.data() + known_, bytes.data(), keep);
    known_ += take;
    bytes = bytes.subspan(take);
    if (known_ < sizeof header) continue;
    std::memcpy(&header, start_.data(), sizeof header);
    if (header.size < sizeof header) return false;
    if (known_ == header.size) finish_record();
  }
  return true;
}

void RecordScan::finish_record() {
  note(start_.data());
  known_ = 0;
}

void RecordScan::note(const std::byte* record) {
  ++records_;
  RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  if (header.type != static_cast<u32>(perf::RecordType::sample)) return;
  if (time_offset_ == 0 || header.size < time_offset_ + sizeof(u64)) return;
  u64 time;
  std::memcpy(&time, record + time_offset_, sizeof time);
  if (!times_)
    times_.emplace(time, time);
  else
    *times_ = {std::min(times_->first, time), std::max(times_->second, time)};
}

}  // namespace pmusim::perfdata

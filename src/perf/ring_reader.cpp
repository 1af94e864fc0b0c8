// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <cstring>

#include "perf/ring_buffer.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/core.h"

namespace pmusim::perf {

RingReader::RingReader(RingBuffer& ring) : control_(&ring.control()), data_(ring.data()) {}

RingReader::Published RingReader::published() const {
  const u64 head = std::atomic_ref(control_->data_head).load(std::memory_order_acquire);
  const u64 tail = control_->data_tail;
  const std::size_t bytes = static_cast<std::size_t>(head - tail);
  if (bytes == 0 || bytes > data_.size()) return {};
  const std::size_t offset = tail & (data_.size() - 1);
  const std::size_t first = std::min(bytes, data_.size() - offset);
  return {data_.subspan(offset, first), data_.first(bytes - first), head};
}

void RingReader::give_back(u64 head) {
  std::atomic_ref(control_->data_tail).store(head, std::memory_order_release);
}

std::vector<std::byte> RingReader::snapshot_backward() const {
  const u64 head = std::atomic_ref(control_->data_head).load(std::memory_order_acquire);
  std::vector<std::byte> records;
  if (data_.empty()) return records;
  const std::size_t start = head & (data_.size() - 1);
  records.assign(data_.begin() + static_cast<std::ptrdiff_t>(start), data_.end());
  records.insert(records.end(), data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(start));

  std::size_t at = 0;
  while (at + sizeof(RecordHeader) <= records.size()) {
    RecordHeader header;
    std::memcpy(&header, records.data() + at, sizeof header);
    if (header.size < sizeof header || at + header.size > records.size()) break;
    at += header.size;
  }
  records.resize(at);
  return records;
}

}  // namespace pmusim::perf

#include "pmusim/perf/ring_reader.h"

#include <cstring>

#include "pmusim/perf/abi.h"

namespace pmusim::perf {

std::vector<std::byte> RingReader::snapshot_backward() const {
  const u64 head = std::atomic_ref(control_.data_head).load(std::memory_order_acquire);
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

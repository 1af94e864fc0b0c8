// SPDX-License-Identifier: MIT
#include "session/task_filter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "perf/sample_fields.h"

namespace pmusim {

TaskFilter::TaskFilter(std::vector<u32> processes, std::vector<u32> threads, u64 sample_type)
    : processes_(std::move(processes)),
      threads_(std::move(threads)),
      ids_offset_(perf::sample_offset(perf::SampleField::tid, sample_type)) {}

bool TaskFilter::keeps(const std::byte* record) const {
  perf::RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  if (static_cast<perf::RecordType>(header.type) != perf::RecordType::sample) return true;
  std::array<u32, 2> ids{};
  std::memcpy(ids.data(), record + ids_offset_, sizeof ids);
  return std::ranges::find(processes_, ids[0]) != processes_.end() ||
         std::ranges::find(threads_, ids[1]) != threads_.end();
}

void TaskFilter::apply(std::vector<std::byte>& records) const {
  if (processes_.empty() && threads_.empty()) return;
  std::vector<std::byte> kept;
  perf::RecordHeader header;
  for (std::size_t at = 0; at + sizeof header <= records.size(); at += header.size) {
    std::memcpy(&header, &records[at], sizeof header);
    if (keeps(&records[at])) kept.insert(kept.end(), &records[at], &records[at] + header.size);
  }
  records = std::move(kept);
}

}  // namespace pmusim

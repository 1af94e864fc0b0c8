// SPDX-License-Identifier: MIT
#include "session/first_branch.h"

#include <cstring>
#include <utility>

#include "perf/records.h"
#include "perfdata/sample_parser.h"

namespace pmusim {

FirstBranch::FirstBranch(const perf::Attr& attr) : attr_(attr) {
  // Layouts with READ differ between a group's events.
  waiting_ = (attr.sample_type & perf::sample::BRANCH_STACK) != 0 &&
             (attr.sample_type & perf::sample::READ) == 0 &&
             (attr.branch_sample_type & perf::branch::ANY) != 0;
}

bool FirstBranch::has_stack(std::span<const std::byte> record) const {
  perfdata::RecordView view;
  view.bytes = record;
  std::memcpy(&view.header, record.data(), sizeof view.header);
  const auto sample = perfdata::parse_sample(view, attr_);
  return !sample.ok() || !sample->branches.empty();
}

void FirstBranch::apply(std::vector<std::byte>& records) {
  if (!waiting_) return;
  std::vector<std::byte> kept;
  perf::RecordHeader header;
  for (std::size_t at = 0; at + sizeof header <= records.size(); at += header.size) {
    std::memcpy(&header, &records[at], sizeof header);
    const std::span<const std::byte> record = std::span(records).subspan(at, header.size);
    const bool is_sample = static_cast<perf::RecordType>(header.type) == perf::RecordType::sample;
    if (is_sample && waiting_) waiting_ = !has_stack(record);
    if (!is_sample || !waiting_) kept.insert(kept.end(), record.begin(), record.end());
  }
  records = std::move(kept);
}

}  // namespace pmusim

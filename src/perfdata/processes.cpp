// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "perfdata/sample_parser.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::perfdata {

using perf::RecordType;

void Processes::take(const RecordView& record) {
  switch (static_cast<RecordType>(record.header.type)) {
    case RecordType::mmap:
    case RecordType::mmap2:
      if (const auto mapping = parse_mmap(record)) map(*mapping);
      break;
    case RecordType::comm:
      if (const auto command = parse_comm(record))
        name(*command, (record.header.misc & perf::misc::COMM_EXEC) != 0);
      break;
    case RecordType::fork:
      if (const auto task = parse_task(record)) fork(*task);
      break;
    default:
      break;
  }
}

/// A new mapping takes the place of what was there.
void Processes::map(const MmapRecordView& m) {
  if (m.length == 0 || m.address + m.length < m.address) return;
  auto& mappings = mappings_[m.pid];
  const u64 end = m.address + m.length;
  auto at = mappings.upper_bound(m.address);
  if (at != mappings.begin()) --at;
  while (at != mappings.end() && at->second.start < end) {
    const Mapping old = at->second;
    if (old.end <= m.address) {
      ++at;
      continue;
    }
    at = mappings.erase(at);
    if (old.start < m.address)
      mappings.insert_or_assign(old.start, Mapping{old.start, m.address, old.page_offset, old.name});
    if (old.end > end)
      mappings.insert_or_assign(end, Mapping{end, old.end, old.page_offset + (end - old.start), old.name});
  }
  mappings.insert_or_assign(m.address, Mapping{m.address, end, m.page_offset, m.name});
}

void Processes::name(const CommRecordView& command, bool exec) {
  commands_.insert_or_assign(command.tid, command.name);
  if (exec) mappings_.erase(command.pid);
}

void Processes::fork(const TaskRecordView& task) {
  if (const auto parent = commands_.find(task.parent_tid); parent != commands_.end())
    commands_.insert_or_assign(task.tid, parent->second);
  if (task.pid == task.parent_pid) return;
  const auto mappings = mappings_.find(task.parent_pid);
  if (mappings != mappings_.end()) mappings_.insert_or_assign(task.pid, mappings->second);
}

std::string Processes::command_of(u32 tid) const {
  if (tid == absent_32) return ":-1";
  if (const auto found = commands_.find(tid); found != commands_.end()) return found->second;
  return tid == 0 ? "swapper" : fmt::format(":{}", tid);
}

const Processes::Mapping* Processes::mapping_at(u32 pid, u64 address) const {
  const auto mappings = mappings_.find(pid);
  if (mappings == mappings_.end()) return nullptr;
  auto after = mappings->second.upper_bound(address);
  if (after == mappings->second.begin()) return nullptr;
  const Mapping& found = std::prev(after)->second;
  return address < found.end ? &found : nullptr;
}

}  // namespace pmusim::perfdata

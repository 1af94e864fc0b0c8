// SPDX-License-Identifier: MIT
#include "pmu/tasks.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace pmusim::machine {

namespace {

/// Reads the members of a record one after another; what is not there is 0.
class Members {
 public:
  explicit Members(std::span<const std::byte> record) : rest_(record) {}
  template <class T>
  T take() {
    T value{};
    std::memcpy(&value, rest_.data(), std::min(sizeof value, rest_.size()));
    skip(sizeof value);
    return value;
  }
  void skip(std::size_t bytes) { rest_ = rest_.subspan(std::min(bytes, rest_.size())); }
  std::span<const std::byte> bytes(std::size_t count) {
    const auto taken = rest_.first(std::min(count, rest_.size()));
    skip(count);
    return taken;
  }
  /// To its end, or the record's.
  std::string text() const {
    const char* const begin = reinterpret_cast<const char*>(rest_.data());
    return {begin, strnlen(begin, rest_.size())};
  }

 private:
  std::span<const std::byte> rest_;
};

trace::Map map_of(Members members, bool has_build_id) {
  trace::Map map{.pid = members.take<u32>(), .mapping = {}};
  members.take<u32>();  // the thread
  trace::Mapping& mapping = map.mapping;
  mapping.start = members.take<u64>();
  mapping.bytes = members.take<u64>();
  mapping.file_offset = members.take<u64>();
  if (has_build_id) {
    const u8 length = members.take<u8>();
    members.skip(3);
    const auto id = members.bytes(20);
    for (const std::byte each : id.first(std::min<std::size_t>(length, id.size())))
      mapping.build_id.push_back(static_cast<u8>(each));
  } else {
    members.skip(24);  // device, inode and its generation
  }
  mapping.protection = members.take<u32>();
  mapping.flags = members.take<u32>();
  mapping.path = members.text();
  return map;
}

}  // namespace

void Ring::copy(u64 from, std::size_t bytes) {
  const u64 ring_bytes = (pages_.size() - 1) * page_bytes;
  record_.resize(bytes);
  for (std::size_t n = 0; n < bytes; ++n) {
    const u64 at = (from + n) % ring_bytes;
    record_[n] = pages_[1 + at / page_bytes][at % page_bytes];
  }
}

std::span<const std::byte> Ring::next() {
  if (pages_.empty()) return {};
  constexpr std::size_t head = offsetof(perf_event_mmap_page, data_head);
  constexpr std::size_t tail = offsetof(perf_event_mmap_page, data_tail);
  if (position(head) == read_) return {};
  copy(read_, sizeof(perf_event_header));
  perf_event_header header{};
  std::memcpy(&header, record_.data(), sizeof header);
  // A guest that has overwritten it is believed no more.
  if (header.size < sizeof header || header.size > position(head) - read_) {
    pages_.clear();
    return {};
  }
  copy(read_, header.size);
  read_ += header.size;
  position(tail) = read_;
  return record_;
}

void Tasks::know(std::span<const std::byte> record) {
  Members members(record);
  members.skip(sizeof(perf_event_header) + sizeof(u32));
  const u32 tid = members.take<u32>();
  names_[tid] = members.text();
}

void Tasks::introduce(Records& records, u32 pid, u32 tid) {
  if (!known_.insert(tid).second) return;
  records.emplace_back(trace::ThreadStart{.pid = pid, .tid = tid, .parent_pid = first, .parent_tid = first});
  std::string name = tid == idle ? "swapper/0" : std::exchange(names_[tid], {});
  if (!name.empty()) records.emplace_back(trace::ThreadName{pid, tid, std::move(name)});
}

/// A task that has exited goes on to where another takes its place.
void Tasks::run(Records& records, u32 pid, u32 tid) {
  if (tid == running_) return;
  introduce(records, pid, tid);
  running_ = tid;
  records.emplace_back(trace::ThreadSwitch{.pid = pid, .tid = tid});
  if (exiting_) records.emplace_back(*std::exchange(exiting_, std::nullopt));
}

std::vector<trace::SideBandRecord> Tasks::changes(std::span<const std::byte> record) {
  Records records;
  Members members(record);
  const auto header = members.take<perf_event_header>();
  switch (header.type) {
    case PERF_RECORD_COMM: {
      const u32 pid = members.take<u32>(), tid = members.take<u32>();
      introduce(records, pid, tid);
      if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) == 0) {
        records.emplace_back(trace::ThreadName{pid, tid, members.text()});
        break;
      }
      run(records, pid, tid);
      records.emplace_back(trace::ProcessStart{pid, tid, members.text(), true});
      break;
    }
    case PERF_RECORD_FORK: {
      const u32 pid = members.take<u32>(), parent_pid = members.take<u32>(), tid = members.take<u32>(),
                parent_tid = members.take<u32>();
      if (parent_tid != 0) introduce(records, parent_pid, parent_tid);
      const u32 parent = parent_tid != 0 ? parent_tid : first;
      if (known_.insert(tid).second)
        records.emplace_back(trace::ThreadStart{pid, tid, parent_tid != 0 ? parent_pid : first, parent});
      break;
    }
    case PERF_RECORD_EXIT: {
      const u32 pid = members.take<u32>();
      members.skip(sizeof(u32));
      const u32 tid = members.take<u32>();
      if (known_.erase(tid) == 0) break;
      const trace::ThreadExit exit{.pid = pid, .tid = tid};
      if (tid == running_)
        exiting_ = exit;
      else
        records.emplace_back(exit);
      break;
    }
    case PERF_RECORD_MMAP2:
      records.emplace_back(map_of(members, (header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0));
      break;
    case PERF_RECORD_SWITCH_CPU_WIDE: {
      if ((header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0) break;
      members.skip(2 * sizeof(u32));  // who ran before
      const u32 pid = members.take<u32>(), tid = members.take<u32>();
      run(records, pid == 0 ? idle : pid, tid == 0 ? idle : tid);
      break;
    }
    case PERF_RECORD_LOST:
      members.skip(sizeof(u64));
      lost_ += members.take<u64>();
      break;
    default:
      break;
  }
  return records;
}

}  // namespace pmusim::machine

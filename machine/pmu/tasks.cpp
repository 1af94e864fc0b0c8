// SPDX-License-Identifier: MIT
#include "pmu/tasks.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace pmusim::machine {

namespace {

constexpr std::size_t longest_name = 15;    // TASK_COMM_LEN without its end
constexpr std::size_t longest_path = 4095;  // PATH_MAX likewise
constexpr std::size_t longest_build_id = 20;

u32 type_of(std::span<const std::byte> record) {
  perf_event_header header{};
  if (record.size() >= sizeof header) std::memcpy(&header, record.data(), sizeof header);
  return header.type;
}

}  // namespace

/// Reads the members of a record one after another, which are there: `problem_of` has seen to that.
class Tasks::Members {
 public:
  explicit Members(std::span<const std::byte> record)
      : rest_(record), misc_(take<perf_event_header>().misc) {}
  /// Of PERF_RECORD_MISC_*.
  bool has(u16 bit) const { return (misc_ & bit) != 0; }
  template <class T>
  T take() {
    T value{};
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> bytes(std::size_t count) {
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::string text() const { return reinterpret_cast<const char*>(rest_.data()); }

 private:
  std::span<const std::byte> rest_;
  u16 misc_;
};

/// A kind of record of the guest's event (guest/init.c), behind whose members the task's numbers stand.
struct Tasks::Kind {
  u32 type;
  const char* name;
  std::size_t bytes;         ///< by perf_event_open(2), with its header, up to its text if it has one
  std::size_t longest_text;  ///< letters; 0: it has none
  void (Tasks::*take)(Records&, Members);

  std::optional<Error> problem_of(std::span<const std::byte> record) const;
};

std::optional<Error> Tasks::Kind::problem_of(std::span<const std::byte> record) const {
  const std::string what =
      "a record " + std::string(name) + " of " + std::to_string(record.size()) + " bytes";
  const std::size_t least = bytes + (longest_text != 0 ? 1 : 0);
  if (record.size() < least) return Error(what + "; expected " + std::to_string(least) + " at least");
  if (longest_text == 0) return std::nullopt;
  const auto text = record.subspan(bytes);
  const auto end = std::ranges::find(text, std::byte{0});
  if (end == text.end())
    return Error(what + ", in which its text does not end; expected a byte of 0 behind it");
  if (const auto letters = static_cast<std::size_t>(end - text.begin()); letters > longest_text)
    return Error(what + ", with a text of " + std::to_string(letters) + " letters; expected " +
                 std::to_string(longest_text) + " at most");
  return std::nullopt;
}

const Tasks::Kind* Tasks::kind_of(u32 type) {
  static constexpr std::array kinds{
      Kind{PERF_RECORD_COMM, "COMM", 16, longest_name, &Tasks::name},
      Kind{PERF_RECORD_FORK, "FORK", 32, 0, &Tasks::fork},
      Kind{PERF_RECORD_EXIT, "EXIT", 32, 0, &Tasks::exit},
      Kind{PERF_RECORD_MMAP2, "MMAP2", 72, longest_path, &Tasks::map},
      Kind{PERF_RECORD_SWITCH_CPU_WIDE, "SWITCH_CPU_WIDE", 24, 0, &Tasks::switch_to},
      Kind{PERF_RECORD_LOST, "LOST", 24, 0, &Tasks::lose},
  };
  const auto* const kind = std::ranges::find(kinds, type, &Kind::type);
  return kind != kinds.end() ? kind : nullptr;
}

Failure<Error> Ring::refuse(std::string sentence) {
  pages_.clear();
  return Failure(Error(std::move(sentence)));
}

void Ring::copy(u64 from, std::size_t bytes) {
  record_.resize(bytes);
  for (std::size_t n = 0; n < bytes; ++n) {
    const u64 at = (from + n) % this->bytes();
    record_[n] = pages_[1 + at / page_bytes][at % page_bytes];
  }
}

Result<std::span<const std::byte>, Error> Ring::next() {
  if (pages_.empty()) return std::span<const std::byte>();
  place_ = read_;
  const u64 written = position(offsetof(perf_event_mmap_page, data_head)) - read_;
  if (written == 0) return std::span<const std::byte>();
  perf_event_header header{};
  if (written < sizeof header || written > bytes())
    return refuse("the kernel has written " + std::to_string(written) + " bytes behind it; expected " +
                  std::to_string(sizeof header) + " to " + std::to_string(bytes()));
  copy(read_, sizeof header);
  std::memcpy(&header, record_.data(), sizeof header);
  if (header.size < sizeof header || header.size > written)
    return refuse("a record says that it has " + std::to_string(header.size) + " bytes; expected " +
                  std::to_string(sizeof header) + " to " + std::to_string(written));
  copy(read_, header.size);
  read_ += header.size;
  position(offsetof(perf_event_mmap_page, data_tail)) = read_;
  return std::span<const std::byte>(record_);
}

bool Tasks::are_tasks(std::initializer_list<u32> numbers) {
  const bool all = std::ranges::all_of(numbers, [](u32 number) { return number != 0 && number < limit; });
  if (!all) ++left_out_;
  return all;
}

/// Whether the trace has not known it.
bool Tasks::meet(u32 tid) {
  if (known_[tid]) return false;
  return known_[tid] = true;
}

void Tasks::introduce(Records& records, u32 pid, u32 tid) {
  if (!meet(tid)) return;
  records.emplace_back(trace::ThreadStart{.pid = pid, .tid = tid, .parent_pid = first, .parent_tid = first});
  auto named = names_.extract(tid);
  if (tid == idle)
    records.emplace_back(trace::ThreadName{pid, tid, "swapper/0"});
  else if (!named.empty())
    records.emplace_back(trace::ThreadName{pid, tid, std::move(named.mapped())});
}

/// A task that has exited goes on to where another takes its place.
void Tasks::run(Records& records, u32 pid, u32 tid) {
  if (tid == running_) return;
  introduce(records, pid, tid);
  running_ = tid;
  records.emplace_back(trace::ThreadSwitch{.pid = pid, .tid = tid});
  if (exiting_) records.emplace_back(*std::exchange(exiting_, std::nullopt));
}

void Tasks::name(Records& records, Members members) {
  const u32 pid = members.take<u32>(), tid = members.take<u32>();
  if (!are_tasks({pid, tid})) return;
  introduce(records, pid, tid);
  if (!members.has(PERF_RECORD_MISC_COMM_EXEC)) {
    records.emplace_back(trace::ThreadName{pid, tid, members.text()});
    return;
  }
  run(records, pid, tid);
  records.emplace_back(trace::ProcessStart{pid, tid, members.text(), true});
}

void Tasks::fork(Records& records, Members members) {
  const u32 pid = members.take<u32>();
  u32 parent_pid = members.take<u32>();
  const u32 tid = members.take<u32>();
  u32 parent = members.take<u32>();
  if (parent == 0) parent_pid = parent = first;  // what the idle task forks
  if (!are_tasks({pid, tid, parent_pid, parent})) return;
  introduce(records, parent_pid, parent);
  if (meet(tid)) records.emplace_back(trace::ThreadStart{pid, tid, parent_pid, parent});
}

void Tasks::exit(Records& records, Members members) {
  const u32 pid = members.take<u32>();
  members.take<u32>();  // of the parent
  const u32 tid = members.take<u32>();
  if (!are_tasks({pid, tid}) || !known_[tid]) return;
  known_[tid] = false;
  const trace::ThreadExit exit{.pid = pid, .tid = tid};
  if (tid == running_)
    exiting_ = exit;
  else
    records.emplace_back(exit);
}

void Tasks::map(Records& records, Members members) {
  trace::Map map{.pid = members.take<u32>(), .mapping = {}};
  if (!are_tasks({map.pid})) return;
  members.take<u32>();  // the thread
  trace::Mapping& mapping = map.mapping;
  mapping.start = members.take<u64>();
  mapping.bytes = members.take<u64>();
  mapping.file_offset = members.take<u64>();
  const std::size_t length = std::min<std::size_t>(members.take<u8>(), longest_build_id);
  members.bytes(3);
  const auto id = members.bytes(longest_build_id);
  if (members.has(PERF_RECORD_MISC_MMAP_BUILD_ID))  // else device, inode and its generation
    for (const std::byte each : id.first(length)) mapping.build_id.push_back(static_cast<u8>(each));
  mapping.protection = members.take<u32>();
  mapping.flags = members.take<u32>();
  mapping.path = members.text();
  records.emplace_back(std::move(map));
}

void Tasks::switch_to(Records& records, Members members) {
  if (members.has(PERF_RECORD_MISC_SWITCH_OUT)) return;
  members.bytes(2 * sizeof(u32));  // who ran before
  const u32 pid = members.take<u32>(), tid = members.take<u32>();
  if (pid == 0 && tid == 0)
    run(records, idle, idle);
  else if (are_tasks({pid, tid}))
    run(records, pid, tid);
}

void Tasks::lose(Records&, Members members) {
  members.take<u64>();  // the event
  lost_ += members.take<u64>();
}

Result<Done, Error> Tasks::know(std::span<const std::byte> record) {
  const Kind& kind = *kind_of(PERF_RECORD_COMM);
  if (auto problem = kind.problem_of(record)) return Failure(std::move(*problem));
  if (const u32 type = type_of(record); type != kind.type)
    return Failure(
        Error("a record of kind " + std::to_string(type) + "; expected COMM, " + std::to_string(kind.type)));
  Members members(record);
  members.take<u32>();  // the process
  if (const u32 tid = members.take<u32>(); are_tasks({tid})) names_[tid] = members.text();
  return Done{};
}

Result<std::vector<trace::SideBandRecord>, Error> Tasks::changes(std::span<const std::byte> record) {
  Records records;
  const Kind* const kind = kind_of(type_of(record));
  if (kind == nullptr) return records;
  if (auto problem = kind->problem_of(record)) return Failure(std::move(*problem));
  (this->*kind->take)(records, Members(record));
  return records;
}

}  // namespace pmusim::machine

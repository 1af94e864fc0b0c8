// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_GUEST_PERF_RECORDS_H
#define PMUSIM_TESTS_GUEST_PERF_RECORDS_H

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "pmusim/base/types.h"

namespace pmusim::test {

using Bytes = std::vector<std::byte>;

/// A record of perf as perf_event_open(2) lays it out, of an event with sample_id_all and PERF_SAMPLE_TID.
class PerfRecord {
 public:
  explicit PerfRecord(u32 type, u16 misc = 0) { word(type).half(misc).half(0); }
  PerfRecord& word(u32 value) { return append(&value, sizeof value); }
  PerfRecord& quad(u64 value) { return append(&value, sizeof value); }
  /// With its end, up to a whole number of eight bytes.
  PerfRecord& text(std::string_view letters) {
    append(letters.data(), letters.size());
    bytes_.resize((bytes_.size() + 8) & ~std::size_t{7});
    return *this;
  }
  Bytes done() {
    const auto size = static_cast<u16>(bytes_.size());
    std::memcpy(bytes_.data() + 6, &size, sizeof size);
    return bytes_;
  }

 private:
  PerfRecord& half(u16 value) { return append(&value, sizeof value); }
  PerfRecord& append(const void* from, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), first, first + count);
    return *this;
  }

  Bytes bytes_;
};

// The numbers of the manual page, and its order of members.

inline Bytes comm(u32 pid, u32 tid, std::string_view name, bool exec = false) {
  return PerfRecord(3, exec ? 1u << 13 : 0).word(pid).word(tid).text(name).word(pid).word(tid).done();
}
inline Bytes task_record(u32 type, u32 pid, u32 parent_pid, u32 tid, u32 parent_tid) {
  PerfRecord record(type);
  for (const u32 number : {pid, parent_pid, tid, parent_tid}) record.word(number);
  return record.quad(0).word(pid).word(tid).done();
}
inline Bytes fork_of(u32 pid, u32 tid, u32 parent_pid, u32 parent_tid) {
  return task_record(7, pid, parent_pid, tid, parent_tid);
}
inline Bytes exit_of(u32 pid, u32 tid) { return task_record(4, pid, 1, tid, 1); }
inline Bytes switch_in(u32 pid, u32 tid) { return PerfRecord(15).word(9).word(9).word(pid).word(tid).done(); }
inline Bytes switch_out(u32 pid, u32 tid) {
  return PerfRecord(15, 1u << 13).word(9).word(9).word(pid).word(tid).done();
}
inline Bytes lost(u64 records) { return PerfRecord(2).quad(1).quad(records).word(5).word(5).done(); }
/// By device and inode; or by build ID, of which the first `id_bytes` of 01 02 03 ... count.
inline Bytes mmap2(u32 pid, std::string_view path) {
  PerfRecord record(10);
  record.word(pid).word(pid).quad(0x401000).quad(0x2000).quad(0x1000);
  return record.word(8).word(1).quad(77).quad(0).word(5).word(2).text(path).word(pid).word(pid).done();
}
inline Bytes mmap2_with_build_id(u32 pid, std::string_view path, u8 id_bytes) {
  PerfRecord record(10, 1u << 14);
  record.word(pid).word(pid).quad(0x401000).quad(0x2000).quad(0x1000).word(id_bytes);
  for (u32 n = 1; n <= 20; n += 4) record.word(n | (n + 1) << 8 | (n + 2) << 16 | (n + 3) << 24);
  return record.word(5).word(2).text(path).word(pid).word(pid).done();
}

}  // namespace pmusim::test

#endif

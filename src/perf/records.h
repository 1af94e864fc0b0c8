// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_RECORDS_H
#define PMUSIM_SRC_PERF_RECORDS_H

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "perf/byte_writer.h"
#include "perf/sample_output.h"
#include "pmusim/perf/abi.h"
#include "pmusim/perf/driver.h"

/// The records other than samples (enum perf_event_type). Each knows its type, misc, payload size and how
/// to write its payload; header and sample_id trailer are the same for all. Names and spans are borrowed.
namespace pmusim::perf {

struct MmapRecord {
  u32 pid = 0, tid = 0;
  u64 address = 0, length = 0, page_offset = 0;  ///< page_offset in bytes
  std::string_view name;
  u16 misc = misc::USER;
  static constexpr RecordType type = RecordType::mmap;
  std::size_t payload_bytes() const { return 32 + padded_name(name); }
  void write(ByteWriter& out) const;
};

/// MMAP2: as MMAP, with the file's identity (inode or build id) and protection.
struct Mmap2Record {
  u32 pid = 0, tid = 0;
  u64 address = 0, length = 0, page_offset = 0;
  u32 major = 0, minor = 0;
  u64 inode = 0, inode_generation = 0;
  std::span<const std::byte> build_id;  ///< at most 20 bytes; not empty: takes the place of the inode
  u32 protection = 0, flags = 0;        ///< PROT_*, MAP_*
  std::string_view name;
  u16 misc = misc::USER;
  static constexpr RecordType type = RecordType::mmap2;
  static constexpr std::size_t max_build_id_bytes = 20;
  std::size_t payload_bytes() const { return 64 + padded_name(name); }
  void write(ByteWriter& out) const;
};

struct LostRecord {
  u64 id = 0, count = 0;
  static constexpr u16 misc = 0;
  static constexpr RecordType type = RecordType::lost;
  static constexpr std::size_t payload_bytes() { return 16; }
  void write(ByteWriter& out) const;
};

struct LostSamplesRecord {
  u64 count = 0;
  static constexpr u16 misc = 0;
  static constexpr RecordType type = RecordType::lost_samples;
  static constexpr std::size_t payload_bytes() { return 8; }
  void write(ByteWriter& out) const { out.put(count); }
};

struct CommRecord {
  u32 pid = 0, tid = 0;
  std::string_view name;  ///< cut to 15 bytes
  u16 misc = 0;           ///< COMM_EXEC when an exec changed it
  static constexpr RecordType type = RecordType::comm;
  std::string_view cut_name() const { return name.substr(0, 15); }
  std::size_t payload_bytes() const { return 8 + padded_name(cut_name()); }
  void write(ByteWriter& out) const;
};

/// FORK and EXIT: a task and the one it came from.
struct TaskRecord {
  RecordType type = RecordType::fork;
  u32 pid = 0, parent_pid = 0, tid = 0, parent_tid = 0;
  u64 time = 0;
  static constexpr u16 misc = 0;
  static constexpr std::size_t payload_bytes() { return 24; }
  void write(ByteWriter& out) const;
};

/// THROTTLE and UNTHROTTLE.
struct ThrottleRecord {
  RecordType type = RecordType::throttle;
  u64 time = 0, id = 0, stream_id = 0;
  static constexpr u16 misc = 0;
  static constexpr std::size_t payload_bytes() { return 24; }
  void write(ByteWriter& out) const;
};

/// READ: what an inherited event had counted when its task exited.
struct ReadRecord {
  u32 pid = 0, tid = 0;
  std::span<const u64> values;  ///< laid out for attr.read_format
  static constexpr u16 misc = 0;
  static constexpr RecordType type = RecordType::read;
  std::size_t payload_bytes() const { return 8 + values.size_bytes(); }
  void write(ByteWriter& out) const;
};

struct SwitchRecord {
  u16 misc = 0;  ///< SWITCH_OUT, SWITCH_OUT_PREEMPT
  static constexpr RecordType type = RecordType::switch_;
  static constexpr std::size_t payload_bytes() { return 0; }
  void write(ByteWriter&) const {}
};

/// SWITCH_CPU_WIDE: also names the task on the other side of the switch.
struct SwitchCpuWideRecord {
  u32 pid = 0, tid = 0;
  u16 misc = 0;
  static constexpr RecordType type = RecordType::switch_cpu_wide;
  static constexpr std::size_t payload_bytes() { return 8; }
  void write(ByteWriter& out) const { out.put_two(pid, tid); }
};

/// AUX: so many bytes are new in the AUX area.
struct AuxRecord {
  u64 offset = 0, bytes = 0, flags = 0;
  static constexpr u16 misc = 0;
  static constexpr RecordType type = RecordType::aux;
  static constexpr std::size_t payload_bytes() { return 24; }
  void write(ByteWriter& out) const {
    out.put_words(offset, bytes);
    out.put(flags);
  }
};

struct CgroupRecord {
  u64 id = 0;
  std::string_view path;
  static constexpr u16 misc = 0;
  static constexpr RecordType type = RecordType::cgroup;
  std::size_t payload_bytes() const { return 8 + padded_name(path); }
  void write(ByteWriter& out) const;
};

/// Bytes of the whole record as an event with this attribute writes it.
template <class Record>
std::size_t record_size(const Record& record, const Attr& attr) {
  return sizeof(RecordHeader) + record.payload_bytes() + sample_id_size(attr);
}

/// Writes header, payload and trailer; `at` has record_size() bytes. Returns the end.
template <class Record>
std::byte* write_record(std::byte* at, const Record& record, const Event& event, const Moment& moment) {
  ByteWriter out(at);
  out.put(RecordHeader{static_cast<u32>(record.type), record.misc,
                       static_cast<u16>(record_size(record, event.attr))});
  record.write(out);
  write_sample_id(out, event, moment);
  return out.at();
}

/// The record on its own, for whoever writes a file without a ring.
template <class Record>
std::vector<std::byte> encode_record(const Record& record, const Event& event, const Moment& moment) {
  std::vector<std::byte> bytes(record_size(record, event.attr));
  write_record(bytes.data(), record, event, moment);
  return bytes;
}

}  // namespace pmusim::perf

#endif

// SPDX-License-Identifier: MIT
#include "perf/records.h"

#include <algorithm>

namespace pmusim::perf {

void MmapRecord::write(ByteWriter& out) const {
  out.put_two(pid, tid);
  out.put(address);
  out.put(length);
  out.put(page_offset);
  out.put_name(name);
}

void Mmap2Record::write(ByteWriter& out) const {
  out.put_two(pid, tid);
  out.put(address);
  out.put(length);
  out.put(page_offset);
  if (build_id.empty()) {
    out.put_two(major, minor);
    out.put(inode);
    out.put(inode_generation);
  } else {
    const auto id = build_id.first(std::min(build_id.size(), max_build_id_bytes));
    out.put(static_cast<u32>(id.size()));
    out.put_all(id);
    out.put_zeros(max_build_id_bytes - id.size());
  }
  out.put_two(protection, flags);
  out.put_name(name);
}

void LostRecord::write(ByteWriter& out) const {
  out.put(id);
  out.put(count);
}

void CommRecord::write(ByteWriter& out) const {
  out.put_two(pid, tid);
  out.put_name(cut_name());
}

void TaskRecord::write(ByteWriter& out) const {
  out.put_two(pid, parent_pid);
  out.put_two(tid, parent_tid);
  out.put(time);
}

void ThrottleRecord::write(ByteWriter& out) const {
  out.put(time);
  out.put(id);
  out.put(stream_id);
}

void ReadRecord::write(ByteWriter& out) const {
  out.put_two(pid, tid);
  out.put_all(values);
}

void CgroupRecord::write(ByteWriter& out) const {
  out.put(id);
  out.put_name(path);
}

}  // namespace pmusim::perf

#ifndef PMUSIM_PERF_RING_READER_H
#define PMUSIM_PERF_RING_READER_H

#include <atomic>
#include <span>
#include <vector>

#include "pmusim/perf/ring_buffer.h"

namespace pmusim::perf {

/// The consumer of a ring buffer; it knows the mapping and nothing else, as a program behind mmap() does.
class RingReader {
 public:
  explicit RingReader(RingBuffer& ring) : control_(ring.control()), data_(ring.data()) {}

  /// Hands over everything that is published and not yet consumed, in at most two pieces (a record may span
  /// them), then gives the room back to the writer. Returns the number of bytes.
  template <class Take>  // Take(std::span<const std::byte>)
  std::size_t drain(Take&& take) {
    const u64 head = std::atomic_ref(control_.data_head).load(std::memory_order_acquire);
    const u64 tail = control_.data_tail;
    const std::size_t bytes = static_cast<std::size_t>(head - tail);
    if (bytes == 0 || bytes > data_.size()) return 0;
    const std::size_t offset = tail & (data_.size() - 1);
    const std::size_t first = std::min(bytes, data_.size() - offset);
    take(data_.subspan(offset, first));
    if (first < bytes) take(data_.first(bytes - first));
    std::atomic_ref(control_.data_tail).store(head, std::memory_order_release);
    return bytes;
  }

  /// The records of a backward, overwriting buffer, newest first; cut where the oldest one is overwritten.
  /// The writer must be paused.
  std::vector<std::byte> snapshot_backward() const;

 private:
  ControlPage& control_;
  std::span<const std::byte> data_;
};

}  // namespace pmusim::perf

#endif

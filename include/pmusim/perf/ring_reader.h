// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PERF_RING_READER_H
#define PMUSIM_PERF_RING_READER_H

#include <cstddef>
#include <span>
#include <vector>

#include "pmusim/base/bits.h"

/// Raw records out of an event's buffer, for readers that know perf's ABI. Session::sample() and
/// perfdata::SampleReader hand out samples taken apart.
namespace pmusim::perf {

class RingBuffer;
struct ControlPage;

/// The consumer of the buffer that PerfCore::mmap() gives; it knows the mapping and nothing else, as a
/// program behind mmap() does. One thread may read while another writes.
class RingReader {
 public:
  explicit RingReader(RingBuffer& ring);

  /// Hands over everything that is published and not yet consumed, in at most two pieces (a record may span
  /// them), then gives the room back to the writer. Returns the number of bytes.
  template <class Take>  // Take(std::span<const std::byte>)
  std::size_t drain(Take&& take) {
    const Published records = published();
    if (records.first.empty()) return 0;
    take(records.first);
    if (!records.rest.empty()) take(records.rest);
    give_back(records.head);
    return records.first.size() + records.rest.size();
  }

  /// The records of a backward, overwriting buffer, newest first; cut where the oldest one is overwritten.
  /// The writer must be paused.
  std::vector<std::byte> snapshot_backward() const;

 private:
  /// What lies up to position `head`; `rest` is what stands at the beginning of the data area.
  struct Published {
    std::span<const std::byte> first, rest;
    u64 head = 0;
  };
  Published published() const;
  void give_back(u64 head);

  ControlPage* control_;
  std::span<const std::byte> data_;
};

}  // namespace pmusim::perf

#endif

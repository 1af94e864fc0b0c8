#ifndef PMUSIM_PERF_OUTPUT_H
#define PMUSIM_PERF_OUTPUT_H

#include "pmusim/perf/records.h"
#include "pmusim/perf/ring_buffer.h"
#include "pmusim/perf/sample_output.h"

namespace pmusim::perf {

/// Puts one record of `bytes` bytes of `event` into `ring`: `write(std::byte*)` fills them in place. What was
/// dropped before is reported by a LOST record in front of it, in the same reservation. False: dropped, and
/// counted in the ring and in the event that readers know.
template <class Write>
bool output(RingBuffer& ring, Event& event, const Moment& moment, std::size_t bytes, Write&& write) {
  const LostRecord lost{primary_id(event), ring.lost()};
  const std::size_t lost_bytes = lost.count != 0 ? record_size(lost, event.attr) : 0;
  std::byte* at = bytes > max_record_bytes ? ring.refuse() : ring.reserve(lost_bytes + bytes);
  if (at == nullptr) {
    if (ring.data_pages() != 0) ++(event.parent ? event.parent : &event)->lost_samples;
    return false;
  }
  if (lost_bytes != 0) {
    at = write_record(at, lost, event, moment);
    ring.clear_lost();
  }
  write(at);
  ring.publish();
  return true;
}

/// Puts a record other than a sample into `ring`, with its sample_id trailer.
template <class Record>
bool output_record(RingBuffer& ring, Event& event, const Moment& moment, const Record& record) {
  return output(ring, event, moment, record_size(record, event.attr),
                [&](std::byte* at) { write_record(at, record, event, moment); });
}

}  // namespace pmusim::perf

#endif

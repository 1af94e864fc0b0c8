// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_OUTPUT_H
#define PMUSIM_SRC_PERF_OUTPUT_H

#include "perf/records.h"
#include "perf/ring_buffer.h"
#include "perf/sample_output.h"

namespace pmusim::perf {

/// Room for a record of `bytes` bytes of `event`. What was dropped before is reported by a LOST record in
/// front of it, in the same reservation. nullptr: dropped, and counted in the ring and in the event that
/// readers know.
std::byte* reserve(RingBuffer& ring, Event& event, const Moment& moment, std::size_t bytes);

/// Puts one record of `bytes` bytes of `event` into `ring`: `write(std::byte*)` fills them in place. False:
/// dropped.
template <class Write>
bool output(RingBuffer& ring, Event& event, const Moment& moment, std::size_t bytes, Write&& write) {
  std::byte* at = nullptr;
  if (ring.fits_ahead(bytes)) [[likely]]
    at = ring.reserve(bytes);
  else if (at = reserve(ring, event, moment, bytes); at == nullptr)
    return false;
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

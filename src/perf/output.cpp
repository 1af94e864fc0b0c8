// SPDX-License-Identifier: MIT
#include "perf/output.h"

namespace pmusim::perf {

namespace {

std::byte* reserve_behind_lost(RingBuffer& ring, const Event& event, const Moment& moment,
                               std::size_t bytes) {
  const LostRecord lost{event.original().id, ring.lost()};
  std::byte* const at = ring.reserve(record_size(lost, event.attr) + bytes);
  if (at == nullptr) return nullptr;
  ring.clear_lost();
  return write_record(at, lost, event, moment);
}

}  // namespace

std::byte* reserve(RingBuffer& ring, Event& event, const Moment& moment, std::size_t bytes) {
  std::byte* const at = bytes > max_record_bytes ? ring.refuse()
                        : ring.lost() == 0       ? ring.reserve(bytes)
                                                 : reserve_behind_lost(ring, event, moment, bytes);
  if (at == nullptr && ring.data_pages() != 0) ++event.original().lost_samples;
  return at;
}

}  // namespace pmusim::perf

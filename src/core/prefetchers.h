// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_PREFETCHERS_H
#define PMUSIM_CORE_PREFETCHERS_H

#include <vector>

#include "core/set_associative.h"

namespace pmusim {

inline constexpr unsigned page_shift = 12;  ///< of 4 KiB; no prefetcher crosses one

/// Follows each load by the address of its instruction, of which it keeps the lowest bits alone, and knows
/// where the load goes next once its stride has come three times.
class StridePrefetcher {
 public:
  static constexpr i64 longest_stride_bytes = 2048;
  static constexpr u64 nothing = ~u64{0};

  /// `loads`: a power of two, or 0 for a prefetcher that never says anything.
  explicit StridePrefetcher(unsigned loads) : loads_(loads) {}

  /// The address to fetch when the load at `ip` reads `address`; `nothing` where it is not known, or lies in
  /// another page.
  u64 observe(u64 ip, u64 address) {
    if (loads_.empty()) return nothing;
    Load& load = loads_[ip & (loads_.size() - 1)];
    const i64 stride = static_cast<i64>(address - load.address);
    load.address = address;
    if (stride != load.stride) {
      load.stride = stride;
      load.times = 1;
      return nothing;
    }
    if (load.times < sure_after) {
      ++load.times;
      return nothing;
    }
    return next_of(load);
  }

 private:
  static constexpr unsigned sure_after = 3;
  struct Load {
    u64 address = 0;
    i64 stride = 0;
    unsigned times = 0;
  };
  static u64 next_of(const Load& load) {
    if (load.stride > longest_stride_bytes || load.stride < -longest_stride_bytes) return nothing;
    const u64 next = load.address + static_cast<u64>(load.stride);
    return next >> page_shift == load.address >> page_shift ? next : nothing;
  }
  std::vector<Load> loads_;
};

/// Lines to fetch, from `first` on, each `step` (1 or -1) after the one before.
struct LineRun {
  u64 first = 0;
  i64 step = 1;
  unsigned lines = 0;
};

/// The streamer of L2: watches the requests of L1 to each 4 KiB page. When two steps on end go the same way,
/// none longer than the gap, it runs ahead of them in that direction, within the page. Where the core has a
/// next-page prefetcher, a stream that reached the end of its page runs on from the first request to the next
/// one.
class StreamPrefetcher {
 public:
  struct Shape {
    unsigned pages;  ///< a multiple of 4; 0 for a prefetcher that never says anything
    unsigned gap_lines, burst_lines, ahead_lines;
    unsigned line_shift;
    unsigned next_page = 0;  ///< 1: streams go on in the next page
  };
  explicit StreamPrefetcher(const Shape& shape);

  /// What to fetch when L1 asks for `line`: no more than `room` lines, which the stream has then passed.
  LineRun observe(u64 line, unsigned room);

 private:
  struct Stream {
    int last = 0, next = 0;  ///< lines within the page: the last request, and the first not fetched yet
    int step = 0;            ///< 0: no direction yet
    bool runs = false;
  };
  bool follow(Stream& stream, int line) const;
  Stream stream_into(u64 page, int line);
  bool reaches(u64 page, int step);

  Shape shape_;
  int page_lines_;
  SetAssociative<Stream> streams_;
};

}  // namespace pmusim

#endif

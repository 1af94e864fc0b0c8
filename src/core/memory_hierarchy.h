// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_MEMORY_HIERARCHY_H
#define PMUSIM_CORE_MEMORY_HIERARCHY_H

#include <optional>

#include "core/set_associative.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// Caches, TLBs and line fill buffers of one core.
///
/// L1I and L1D stand before a shared L2 and, where there is one, L3; every level allocates on a miss. The
/// last of them counts LLC references and misses. A missed line enters L1D at once, with the cycle at which
/// its data arrive: whoever touches it before that hits the fill buffer. At most `outstanding_misses` lines
/// are under way; a further miss waits for the first buffer that frees. Pages are 4 KiB. Not modelled:
/// prefetchers, write-backs, other cores.
class MemoryHierarchy {
 public:
  struct Answer {
    CacheLevel level = CacheLevel::l1;
    CacheLevel source = CacheLevel::l1;  ///< where the data come from; differs at a fill buffer hit
    TlbLevel tlb = TlbLevel::l1;
    u64 ready_cycle = 0;  ///< first cycle in which the data can be used
  };

  /// Geometries must divide evenly (Core::create checks).
  explicit MemoryHierarchy(const CoreParameters& parameters);

  /// One access within one line, whose address is known in `cycle`. Adds cache requests and page walks to
  /// `quantities`.
  Answer access(u64 address, AccessKind kind, u64 cycle, Quantities& quantities);
  /// Code fetch of one line. Adds to `quantities` as above.
  Answer fetch(u64 address, u64 cycle, Quantities& quantities);

  /// CLFLUSH: the line with this address leaves every cache.
  void flush(u64 address);

  u64 line_of(u64 address) const { return address >> line_shift_; }
  unsigned line_shift() const { return line_shift_; }
  /// Latency of an access that hits everywhere.
  unsigned hit_latency() const { return l1d_latency_; }

 private:
  struct Present {};
  struct Fill {
    u64 ready_cycle = 0;
    CacheLevel source = CacheLevel::l1;
  };
  struct Outer {  // what lies behind L1
    CacheLevel level;
    unsigned latency_cycles;
  };
  struct Translation {
    TlbLevel level = TlbLevel::l1;
    unsigned latency_cycles = 0;
  };
  Outer look_up_outer(u64 line, Quantities& quantities);
  Translation translate(SetAssociative<Present>& first_level, u64 page, Quantity walks,
                        Quantities& quantities);

  unsigned line_shift_, l1d_latency_, l1i_miss_penalty_, l2_latency_, l3_latency_, memory_latency_;
  unsigned stlb_latency_, page_walk_cycles_;
  SetAssociative<Fill> l1d_;
  SetAssociative<Present> l1i_, l2_;
  std::optional<SetAssociative<Present>> l3_;
  SetAssociative<Present> dtlb_, itlb_;
  std::optional<SetAssociative<Present>> stlb_;
  std::vector<u64> fill_buffers_;  // cycle at which each is free
};

}  // namespace pmusim

#endif

#ifndef PMUSIM_CPU_GENERIC_EVENTS_H
#define PMUSIM_CPU_GENERIC_EVENTS_H

#include <optional>

#include "pmusim/cpu/microarchitecture.h"

namespace pmusim {

/// The events that perf names on every CPU, numbered as PERF_COUNT_HW_*.
enum class GenericEvent : u8 {
  cpu_cycles,
  instructions,
  cache_references,
  cache_misses,
  branch_instructions,
  branch_misses,
  bus_cycles,
  stalled_cycles_frontend,
  stalled_cycles_backend,
  ref_cycles,
  count_,
};

/// The event select bits (event, umask, CMASK, INV) that stand for a generic event, or nothing where the part
/// has none. `arch_events`: architectural events present, positive polarity; a generic event whose
/// architectural event is missing has no encoding (reference: perf generic events).
std::optional<u64> generic_event_encoding(Microarchitecture core, GenericEvent event, u32 arch_events);

/// Coordinates of a hardware-cache event, numbered as PERF_COUNT_HW_CACHE_*.
enum class CacheId : u8 { l1d, l1i, ll, dtlb, itlb, bpu, node };
enum class CacheOperation : u8 { read, write, prefetch };
enum class CacheResult : u8 { access, miss };

struct CacheEventEncoding {
  enum class Kind : u8 {
    valid,
    none,     ///< makes sense, but this part has no such event: ENOENT
    invalid,  ///< makes no sense (writing to the instruction cache): EINVAL
  };
  Kind kind = Kind::none;
  u64 config = 0;  ///< event select bits
  u64 extra = 0;   ///< value for OFFCORE_RSP, 0 for events without
};

CacheEventEncoding cache_event_encoding(Microarchitecture core, CacheId cache, CacheOperation operation,
                                        CacheResult result);

}  // namespace pmusim

#endif

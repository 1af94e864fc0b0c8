// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_GENERIC_EVENTS_H
#define PMUSIM_CPU_GENERIC_EVENTS_H

#include <optional>
#include <string_view>

#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"

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
/// architectural event is missing has no encoding (Linux: intel_pmu_event_map). AMD's cores have a table each
/// (amd_pmu_event_map).
std::optional<u64> generic_event_encoding(Microarchitecture core, GenericEvent event, u32 arch_events);

/// Coordinates of a hardware-cache event, numbered as PERF_COUNT_HW_CACHE_*.
enum class CacheId : u8 { l1d, l1i, ll, dtlb, itlb, bpu, node };
enum class CacheOperation : u8 { read, write, prefetch };
enum class CacheResult : u8 { access, miss };

/// Nobody writes instructions through the instruction cache, and branches are only ever predicted.
bool makes_sense(CacheId cache, CacheOperation operation);

/// One row of a core's hardware-cache events.
struct CacheEvent {
  CacheId cache;
  CacheOperation operation;
  CacheResult result;
  u64 config;     ///< event select bits
  u64 extra = 0;  ///< value for OFFCORE_RSP, 0 for events without
};

/// An event that drivers publish under a name of their own.
struct NamedEncoding {
  std::string_view name;
  u64 config;     ///< event select bits
  u64 extra = 0;  ///< config1: a register's value or a threshold
  /// What a driver says counts are to be multiplied with: slots of a cycle, where cycles are counted.
  unsigned scale = 1;
};

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

/// perf's table of cache events for a product.
struct CacheTable {
  enum class Edition : u8 {
    first,      ///< as Linux 6.12 has it
    corrected,  ///< as Linux 7.3 has it: last-level events ask for what the product's uncore answers
  };
  Microarchitecture core = Microarchitecture::unknown;
  u32 model = 0;  ///< CPUID display model, where products of a core differ
  Edition edition = Edition::first;
};

CacheEventEncoding cache_event_encoding(const CacheTable& table, CacheId cache, CacheOperation operation,
                                        CacheResult result);

/// What a counter is programmed with for an event.
struct EventEncoding {
  u64 config = 0;  ///< event select bits (event, umask, CMASK, INV)
  u64 extra = 0;   ///< value for the event's extra register
};

/// Why an attribute has no encoding.
enum class NoEncoding : u8 {
  unknown_event,  ///< no CPU has an event of this number
  senseless,      ///< a cache event that makes no sense on any CPU
  absent,         ///< this core has no such event
};

/// The encoding of a PERF_TYPE_HARDWARE event. Bits above 31 of `config` name a PMU and are ignored.
[[nodiscard]] Result<EventEncoding, NoEncoding> encode_generic_event(Microarchitecture core, u64 config,
                                                                     u32 arch_events);
/// The encoding of a PERF_TYPE_HW_CACHE event: cache, operation and result in a byte each.
[[nodiscard]] Result<EventEncoding, NoEncoding> encode_cache_event(const CacheTable& table, u64 config);

}  // namespace pmusim

#endif

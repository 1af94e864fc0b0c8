// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_OFF_CORE_LAYOUTS_H
#define PMUSIM_SRC_CPU_CORES_OFF_CORE_LAYOUTS_H

#include "cpu/core_facts.h"

namespace pmusim::event_rows {

/// Another core's answers (bits 34 to 36) never come.
inline constexpr u64 lone_core_snoops = bits(33, 31) | bit(37);

inline constexpr OffCoreLayout nehalem_off_core_layout{.event = 0xB7,
                                                       .second = {0xBB, 0x01},
                                                       .prefetches = bits(6, 4),
                                                       .hits = bits(10, 8),
                                                       .misses = bits(15, 11)};

/// Into L2 and L3; from Skylake on bit 10, which was for locks of the bus, is for those into L1.
inline constexpr u64 sandy_bridge_prefetch_requests = bits(9, 4);
inline constexpr u64 skylake_prefetch_requests = bits(10, 4) | bit(13);
inline constexpr u64 atom_prefetch_requests = skylake_prefetch_requests | bit(12);

constexpr OffCoreLayout sandy_bridge_layout(u16 event, OffCoreLayout::Code second, u64 prefetches) {
  return {.event = event,
          .second = second,
          .prefetches = prefetches,
          .any = bit(16),
          .hits = bits(21, 18),
          .misses = bits(30, 22),
          .snoops = lone_core_snoops};
}
inline constexpr OffCoreLayout sandy_bridge_off_core =
    sandy_bridge_layout(0xB7, {0xBB, 0x01}, sandy_bridge_prefetch_requests);
inline constexpr OffCoreLayout skylake_off_core_layout =
    sandy_bridge_layout(0xB7, {0xBB, 0x01}, skylake_prefetch_requests);
inline constexpr OffCoreLayout golden_cove_off_core_layout =
    sandy_bridge_layout(0x2A, {0x2B, 0x01}, skylake_prefetch_requests);
inline constexpr OffCoreLayout atom_off_core =
    sandy_bridge_layout(0xB7, {0xB7, 0x02}, atom_prefetch_requests);

/// No L3; bit 33 is "snoop miss, or none needed".
inline constexpr OffCoreLayout goldmont_off_core_layout{.event = 0xB7,
                                                        .second = {0xB7, 0x02},
                                                        .prefetches = atom_prefetch_requests,
                                                        .any = bit(16),
                                                        .misses = bit(33)};

/// Off-module response: the split of bits 55:32 follows from what perf's LL events ask for. Which of the
/// other requests are prefetches is not known.
constexpr OffCoreLayout omr_layout(u16 event, u64 prefetches = bits(31, 3)) {
  return {.event = event,
          .umasks = 0x0F,
          .prefetches = prefetches,
          .any = bit(62),
          .hits = bits(35, 32),
          .misses = bits(55, 36)};
}

}  // namespace pmusim::event_rows

#endif

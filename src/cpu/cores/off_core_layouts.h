// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_OFF_CORE_LAYOUTS_H
#define PMUSIM_SRC_CPU_CORES_OFF_CORE_LAYOUTS_H

#include "cpu/core_facts.h"

namespace pmusim::event_rows {

inline constexpr OffCoreLayout nehalem_off_core_layout{.event = 0xB7,
                                                       .second = {0xBB, 0x01},
                                                       .prefetches = bits(6, 4),
                                                       .hits = bits(10, 8),
                                                       .hit_states = bit(8),
                                                       .misses = bit(14)};
/// The local memory has the bit that was a remote cache's.
inline constexpr OffCoreLayout westmere_off_core_layout{.event = 0xB7,
                                                        .second = {0xBB, 0x01},
                                                        .prefetches = bits(6, 4),
                                                        .hits = bits(10, 8),
                                                        .hit_states = bit(8),
                                                        .misses = bit(12)};

/// Into L2 and L3; from Skylake on bit 10, which was for locks of the bus, is for those into L1.
inline constexpr u64 sandy_bridge_prefetch_requests = bits(9, 4);
inline constexpr u64 skylake_prefetch_requests = bits(10, 4) | bit(13);
inline constexpr u64 atom_prefetch_requests = skylake_prefetch_requests | bit(12) | bit(14);

/// What snoops say (bits 31 to 37): nothing, that none was needed, that no other core has the line, and so
/// on. A lone core's hits need none. With which of these a line comes from memory, lists say by the names
/// that they give to local memory.
inline constexpr u64 snoop_not_needed = bit(32), snoop_missed = bit(33);

struct MemoryBits {
  u64 supplier, snoops;
};

constexpr OffCoreLayout sandy_bridge_layout(u16 event, OffCoreLayout::Code second, u64 prefetches,
                                            MemoryBits memory) {
  return {.event = event,
          .second = second,
          .prefetches = prefetches,
          .any = bit(16),
          .hits = bits(21, 18),
          .hit_states = bits(20, 18),
          .misses = memory.supplier,
          .hit_snoops = snoop_not_needed,
          .miss_snoops = memory.snoops,
          .all_snoops = bits(36, 32)};
}
inline constexpr OffCoreLayout sandy_bridge_off_core =
    sandy_bridge_layout(0xB7, {0xBB, 0x01}, sandy_bridge_prefetch_requests, {bit(22), snoop_missed});
/// Broadwell's local memory is bit 26.
inline constexpr OffCoreLayout haswell_off_core = sandy_bridge_layout(
    0xB7, {0xBB, 0x01}, sandy_bridge_prefetch_requests, {bit(22) | bit(26), snoop_not_needed});
inline constexpr OffCoreLayout skylake_off_core_layout =
    sandy_bridge_layout(0xB7, {0xBB, 0x01}, skylake_prefetch_requests, {bit(26), snoop_not_needed});
inline constexpr OffCoreLayout skylake_x_off_core_layout =
    sandy_bridge_layout(0xB7, {0xBB, 0x01}, skylake_prefetch_requests, {bit(26), snoop_missed});
inline constexpr OffCoreLayout golden_cove_off_core_layout =
    sandy_bridge_layout(0x2A, {0x2B, 0x01}, skylake_prefetch_requests | bit(14), {bit(26), snoop_not_needed});

constexpr OffCoreLayout small_core_layout() {
  OffCoreLayout layout =
      sandy_bridge_layout(0xB7, {0xB7, 0x02}, atom_prefetch_requests, {bit(26), snoop_not_needed});
  layout.under_way = bit(63);
  return layout;
}
inline constexpr OffCoreLayout atom_off_core = small_core_layout();

/// Suppliers and snoops have moved up.
inline constexpr OffCoreLayout lion_cove_off_core_layout{.event = 0x2A,
                                                         .second = {0x2B, 0x01},
                                                         .prefetches = skylake_prefetch_requests | bit(14),
                                                         .any = bit(16),
                                                         .hits = bits(24, 21),
                                                         .hit_states = bits(24, 21),
                                                         .misses = bits(34, 31),
                                                         .hit_snoops = bits(38, 37),
                                                         .miss_snoops = bits(38, 37)};

/// No L3; bit 33 is "snoop miss, or none needed".
constexpr OffCoreLayout silvermont_layout(u64 memory) {
  return {.event = 0xB7,
          .second = {0xB7, 0x02},
          .prefetches = bits(6, 4) | bits(13, 12),
          .any = bit(16),
          .misses = memory,
          .under_way = bit(38)};
}
inline constexpr OffCoreLayout silvermont_off_core_layout = silvermont_layout(bit(33));
inline constexpr OffCoreLayout goldmont_off_core_layout = silvermont_layout(bit(33));
/// Lines come from the near half of the DDR memory.
inline constexpr OffCoreLayout knights_landing_off_core_layout = silvermont_layout(bit(23));

/// Off-module response: the split of bits 55:32 follows from what perf's LL events ask for. Which of the
/// other requests are prefetches is not known.
constexpr OffCoreLayout omr_layout(u16 event, u64 prefetches = bits(31, 3)) {
  return {.event = event,
          .umasks = 0x0F,
          .prefetches = prefetches,
          .any = bit(62),
          .hits = bits(35, 32),
          .hit_states = bits(35, 32),
          .misses = bits(55, 36)};
}

}  // namespace pmusim::event_rows

#endif

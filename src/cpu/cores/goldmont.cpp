// SPDX-License-Identifier: MIT
#include "cores.h"
#include "goldmont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::goldmont {

using namespace event_rows;

constexpr std::array goldmont_only{
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
};

constexpr auto table = join(goldmont_common, goldmont_own, goldmont_off_core, goldmont_load_blocks,
                            goldmont_only, shared_rows<Microarchitecture::goldmont>());

constexpr std::array cache{
    CacheEvent{l1d, read, access, 0x81D0},          CacheEvent{l1d, write, access, 0x82D0},
    CacheEvent{l1i, read, access, 0x0380},          CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{ll, read, access, 0x01B7, 0x10001},  CacheEvent{ll, read, miss, 0x01B7, 0x3600000001},
    CacheEvent{ll, write, access, 0x01B7, 0x10002}, CacheEvent{ll, write, miss, 0x01B7, 0x3600000002},
    CacheEvent{dtlb, read, access, 0x81D0},         CacheEvent{dtlb, write, access, 0x82D0},
    CacheEvent{itlb, read, access, 0x00C0},         CacheEvent{itlb, read, miss, 0x0481},
    CacheEvent{bpu, read, access, 0x00C4},          CacheEvent{bpu, read, miss, 0x00C5},
};
constexpr Product products[] = {{6, 0x5C}, {6, 0x5F}};

constexpr Preset presets[] = {
    // Four counters of 48 bits, streamlined freeze, 32 LBR records with the cycle count in TO; PEBS on
    // counter 0.
    {"goldmont", "Goldmont", "glm", "goldmont"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::goldmont,
    .type = CoreType::atom,
    .products = products,
    .presets = presets,
    .events = table,
    .cache_events = cache,
    .named_events = goldmont_slots,
    .off_core = goldmont_off_core_layout,
    .pebs_events = {.kind = PebsEvents::Kind::any},
};

}  // namespace pmusim::cores::goldmont

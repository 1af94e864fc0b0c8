// SPDX-License-Identifier: MIT
#include "cores.h"
#include "goldmont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::goldmont_plus {

using namespace event_rows;

constexpr std::array goldmont_plus_only{
    row("INST_RETIRED.PREC_DIST", 0xC0, 0x00, on(instruction)),
    row("DL1.REPLACEMENT", 0x51, 0x01, on_any({load_l1_miss, store_l1_miss})),
};

constexpr auto table =
    join(goldmont_common, goldmont_own, goldmont_off_core, goldmont_plus_walks, goldmont_load_blocks,
         goldmont_plus_only, shared_rows<Microarchitecture::goldmont_plus>());

constexpr std::array cache{
    CacheEvent{l1d, read, access, 0x81D0},          CacheEvent{l1d, write, access, 0x82D0},
    CacheEvent{l1i, read, access, 0x0380},          CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{ll, read, access, 0x01B7, 0x10001},  CacheEvent{ll, read, miss, 0x01B7, 0x3600000001},
    CacheEvent{ll, write, access, 0x01B7, 0x10002}, CacheEvent{ll, write, miss, 0x01B7, 0x3600000002},
    CacheEvent{dtlb, read, access, 0x81D0},         CacheEvent{dtlb, read, miss, 0x0E08},
    CacheEvent{dtlb, write, access, 0x82D0},        CacheEvent{dtlb, write, miss, 0x0E49},
    CacheEvent{itlb, read, access, 0x00C0},         CacheEvent{itlb, read, miss, 0x0481},
    CacheEvent{bpu, read, access, 0x00C4},          CacheEvent{bpu, read, miss, 0x00C5},
};
constexpr Product products[] = {{6, 0x7A}};

constexpr Preset presets[] = {
    // PEBS on every counter, fixed ones included.
    {"goldmont-plus", "Goldmont Plus", "glm", "goldmont-plus"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::goldmont_plus,
    .type = CoreType::atom,
    .products = products,
    .presets = presets,
    .events = table,
    .cache_events = cache,
    .named_events = goldmont_slots,
    .off_core = goldmont_off_core_layout,
};

}  // namespace pmusim::cores::goldmont_plus

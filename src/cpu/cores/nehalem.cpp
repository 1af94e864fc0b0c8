// SPDX-License-Identifier: MIT
#include "cores.h"
#include "named_events.h"
#include "nehalem_family.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::nehalem {

using namespace event_rows;

/// Erratum AAJ80 hides C5.00; perf counts executed mispredicts instead, which the core, running no wrong
/// path, has at retirement.
constexpr std::array nehalem_only{
    row("INST_RETIRED.ANY_P", 0xC0, 0x00, on(instruction)),
    row("BR_MISP_EXEC.ANY", 0x89, 0x7F, on(mispredicted)),
    row("MEM_UNCORE_RETIRED.LOCAL_DRAM", 0x0F, 0x20, on(load_dram)),
};

constexpr auto table = join(fixed_three, architectural_cache, nehalem_and_westmere, nehalem_only,
                            nehalem_off_core, architectural_names, shared_rows<Microarchitecture::nehalem>());

constexpr std::array cache{
    CacheEvent{l1d, read, access, 0x010B},         CacheEvent{l1d, read, miss, 0x0151},
    CacheEvent{l1d, write, access, 0x020B},        CacheEvent{l1d, write, miss, 0x0251},
    CacheEvent{l1i, read, access, 0x0380},         CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{ll, read, access, 0x01B7, 0xF701},  CacheEvent{ll, read, miss, 0x01B7, 0xF001},
    CacheEvent{ll, write, access, 0x01B7, 0xF70A}, CacheEvent{ll, write, miss, 0x01B7, 0xF00A},
    CacheEvent{dtlb, read, access, 0x0F40},        CacheEvent{dtlb, read, miss, 0x0108},
    CacheEvent{dtlb, write, access, 0x0F41},       CacheEvent{dtlb, write, miss, 0x010C},
    CacheEvent{itlb, read, access, 0x01C0},        CacheEvent{itlb, read, miss, 0x20C8},
    CacheEvent{bpu, read, access, 0x00C4},         CacheEvent{bpu, read, miss, 0x03E8},
};
constexpr Product products[] = {{6, 0x1A}, {6, 0x1E}, {6, 0x1F}, {6, 0x2E}};

constexpr Preset presets[] = {
    // Four counters per hardware thread, PEBS on all of them with load latency, 16 LBR records and a
    // filter.
    {"nehalem", "Nehalem", "nhm", "nehalem"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::nehalem,
    .products = products,
    .presets = presets,
    .events = table,
    .generic = {.frontend_stalls = 0x010E | GenericEncodings::no_uops,
                .backend_stalls = 0x3FB1 | GenericEncodings::no_uops,
                .hidden_mispredicts = 0x7F89},
    .cache_events = cache,
    .named_events = nehalem_memory,
    .off_core = nehalem_off_core_layout,
    .pebs_events = {.kind = PebsEvents::Kind::listed, .listed = nehalem_pebs_events},
};

}  // namespace pmusim::cores::nehalem

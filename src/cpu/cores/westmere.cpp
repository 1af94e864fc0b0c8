// SPDX-License-Identifier: MIT
#include "cores.h"
#include "named_events.h"
#include "nehalem_family.h"
#include "off_core_layouts.h"
#include "shared/shared.h"

namespace pmusim::cores::westmere {

using namespace event_rows;

constexpr std::array westmere_only{
    row("INST_RETIRED.ANY_P", 0xC0, 0x01, on(instruction)),
    row("BR_MISP_RETIRED.ALL_BRANCHES", 0xC5, 0x00, on(mispredicted)),
    row("BR_MISP_RETIRED.CONDITIONAL", 0xC5, 0x01, on(mispredicted_conditional)),
    row("MEM_UNCORE_RETIRED.LOCAL_DRAM", 0x0F, 0x10, on(load_dram)),
};

constexpr auto table =
    join(fixed_three, architectural_cache, nehalem_and_westmere, westmere_only, nehalem_off_core,
         architectural_names, architectural_mispredicts, shared_rows<Microarchitecture::westmere>());

constexpr std::array cache{
    CacheEvent{l1d, read, access, 0x010B},         CacheEvent{l1d, read, miss, 0x0151},
    CacheEvent{l1d, write, access, 0x020B},        CacheEvent{l1d, write, miss, 0x0251},
    CacheEvent{l1i, read, access, 0x0380},         CacheEvent{l1i, read, miss, 0x0280},
    CacheEvent{ll, read, access, 0x01B7, 0xF701},  CacheEvent{ll, read, miss, 0x01B7, 0xF001},
    CacheEvent{ll, write, access, 0x01B7, 0xF70A}, CacheEvent{ll, write, miss, 0x01B7, 0xF00A},
    CacheEvent{dtlb, read, access, 0x010B},        CacheEvent{dtlb, read, miss, 0x0108},
    CacheEvent{dtlb, write, access, 0x020B},       CacheEvent{dtlb, write, miss, 0x010C},
    CacheEvent{itlb, read, access, 0x01C0},        CacheEvent{itlb, read, miss, 0x0185},
    CacheEvent{bpu, read, access, 0x00C4},         CacheEvent{bpu, read, miss, 0x03E8},
};
constexpr Product products[] = {{6, 0x25}, {6, 0x2C}, {6, 0x2F}};

constexpr Preset presets[] = {
    {"westmere", "Westmere", "wsm", "westmere"},
};

constinit const CoreFacts facts{
    .core = Microarchitecture::westmere,
    .products = products,
    .presets = presets,
    .events = table,
    .generic = {.frontend_stalls = 0x010E | GenericEncodings::no_uops,
                .backend_stalls = 0x3FB1 | GenericEncodings::no_uops},
    .cache_events = cache,
    .named_events = nehalem_memory,
    .off_core = westmere_off_core_layout,
    .pebs_events = {.kind = PebsEvents::Kind::listed, .listed = nehalem_pebs_events},
};

}  // namespace pmusim::cores::westmere

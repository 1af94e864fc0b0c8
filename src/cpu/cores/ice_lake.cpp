// SPDX-License-Identifier: MIT
#include "cores.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "shared/shared.h"
#include "skylake_family.h"

namespace pmusim::cores::ice_lake {

using namespace event_rows;

constexpr std::array own{
    row("INST_RETIRED.PREC_DIST", 0x00, 0x01, on(instruction)),
    row("INST_RETIRED.NOP", 0xC0, 0x02, on(nop)),
    at_least(1, row("ARITH.FP_DIVIDER_ACTIVE", 0x14, 0x01, sum(Q::divider_cycles_fp))),
    fewer_than(1, row("INST_RETIRED.STALL_CYCLES", 0xC0, 0x01, on(instruction))),
    row("CPU_CLK_UNHALTED.DISTRIBUTED", 0xEC, 0x02, sum(Q::cycles)),
    row("TOPDOWN.SLOTS", 0x00, 0x04, sum(Q::slots)),
    row("TOPDOWN.SLOTS_P", 0xA4, 0x01, sum(Q::slots)),
    row("TOPDOWN.BACKEND_BOUND_SLOTS", 0xA4, 0x02, sum(Q::slots_backend)),
    row("TOPDOWN.BR_MISPREDICT_SLOTS", 0xA4, 0x08, sum(Q::slots_branch_mispredict)),
    begins(row("INT_MISC.CLEARS_COUNT", 0x0D, 0x01, sum(Q::recovery_cycles))),
    // Slots that allocation drops look like the front end's; here each lost slot is charged to who lost it.
    row("INT_MISC.UOP_DROPPING", 0x0D, 0x10, never()),
};

constexpr auto table =
    join(fixed_three, haswell_clocks, architectural_cache, ice_lake_branches, mispredicted_returns,
         skylake_memory_instructions, skylake_load_sources, local_memory_loads, load_latency_samples,
         front_end_retired(0x01), haswell_l2, skylake_l2_hits, l1d_replacement, skylake_l2_lines,
         sandy_bridge_load_blocks, sandy_bridge_off_core_requests, skylake_off_core_requests, ice_lake_snoops,
         remote_loads, haswell_small_page_walks, ice_lake_pauses, skylake_tlb, skylake_icache, resteers,
         skylake_machine_clears, skylake_recovery, skylake_stalls, uops_retired_slots, slots_not_delivered,
         ice_lake_lbr_inserts, haswell_transactions, broadwell_fp_arithmetic, skylake_x_fp_arithmetic, own,
         off_core(0xB7, {0x10001, 0x3FFFC00001, 0x10002, 0x3FFFC00002}), architectural_names,
         architectural_mispredicts, shared_rows<Microarchitecture::ice_lake>());
constexpr Product products[] = {{6, 0x7D}, {6, 0x7E}, {6, 0x6A}, {6, 0x6C},
                                {6, 0x8C}, {6, 0x8D}, {6, 0xA7}, {6, 0x8A}};
constexpr ProductName names[] = {{"lakefield", "icelake"}};

constexpr Preset presets[] = {
    // Sunny Cove: eight counters per logical processor, TOPDOWN.SLOTS in fixed counter 3, PERF_METRICS,
    // adaptive PEBS on every counter.
    {"icelake", "Ice Lake", "icl", "icelake"},
    {"icelake-server", "Ice Lake server", "icx", "icelake-server"},
    {"tigerlake", "Tiger Lake", "icl", "tigerlake"},
    {"rocketlake", "Rocket Lake", "icl", "rocketlake"},
};

constexpr u32 servers[] = {0x6A, 0x6C};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x01B7,
     .models = servers,
     .edition = CacheTable::Edition::corrected,
     .values = {0x10001, 0x3F'BFC0'0001, 0x3F'3FFC'0002, 0x3F'3FC0'0002}}};

constinit const CoreFacts facts{
    .core = Microarchitecture::ice_lake,
    .products = products,
    .names = names,
    .presets = presets,
    .events = table,
    .cache_events = skylake_cache,
    .last_level = last_level_rows,
    .named_events = haswell_memory,
    .off_core = skylake_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace pmusim::cores::ice_lake

#include "event_tables_private.h"
#include "events_shared.h"

namespace pmusim::event_rows {
namespace {

constexpr std::array own{
    row("INST_RETIRED.PREC_DIST", 0x00, 0x01, on(instruction)),
    row("INST_RETIRED.NOP", 0xC0, 0x02, on(nop)),
    fewer_than(1, row("INST_RETIRED.STALL_CYCLES", 0xC0, 0x01, on(instruction))),
    row("CPU_CLK_UNHALTED.DISTRIBUTED", 0xEC, 0x02, sum(Q::cycles)),
    row("TOPDOWN.SLOTS", 0x00, 0x04, sum(Q::slots)),
    row("TOPDOWN.SLOTS_P", 0xA4, 0x01, sum(Q::slots)),
    row("TOPDOWN.BACKEND_BOUND_SLOTS", 0xA4, 0x02, sum(Q::slots_backend)),
    row("TOPDOWN.BR_MISPREDICT_SLOTS", 0xA4, 0x08, sum(Q::slots_branch_mispredict)),
    begins(row("INT_MISC.CLEARS_COUNT", 0x0D, 0x01, sum(Q::recovery_cycles))),
};

constexpr auto table =
    join(fixed_three, haswell_clocks, architectural_cache, ice_lake_branches, skylake_memory_instructions,
         skylake_load_sources, local_memory_loads, load_latency_samples, front_end_retired(0x01), haswell_l2,
         skylake_l2_hits, l1d_replacement, skylake_tlb, skylake_icache, resteers, skylake_machine_clears,
         skylake_recovery, skylake_stalls, uops_retired_slots, slots_not_delivered, ice_lake_lbr_inserts,
         haswell_transactions, broadwell_fp_arithmetic, skylake_x_fp_arithmetic, own,
         off_core(0xB7, {0x10001, 0x3FFFC00001, 0x10002, 0x3FFFC00002}), architectural_names,
         architectural_mispredicts);

}  // namespace

std::span<const EventDefinition> ice_lake_events() { return table; }

}  // namespace pmusim::event_rows

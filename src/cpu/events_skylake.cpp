#include "event_tables_private.h"
#include "events_shared.h"

namespace pmusim::event_rows {
namespace {

constexpr std::array own{
    row("BR_MISP_RETIRED.NEAR_CALL", 0xC5, 0x02, on(mispredicted_indirect_call)),
    begins(row("INT_MISC.RECOVERY_STALLS_COUNT", 0x0D, 0x01, sum(Q::recovery_cycles))),
};

constexpr auto skylake_table =
    join(fixed_three, haswell_clocks, precise_distribution, architectural_cache, sandy_bridge_branches,
         mispredicted_returns, skylake_memory_instructions, skylake_load_sources, local_memory_loads,
         load_latency_samples, front_end_retired(0x01), haswell_l2, skylake_l2_hits, l1d_replacement,
         skylake_tlb, skylake_icache, resteers, skylake_machine_clears, skylake_recovery, skylake_stalls,
         sandy_bridge_uops, slots_not_delivered, sandy_bridge_lbr_inserts, haswell_transactions,
         broadwell_fp_arithmetic, own, off_core(0xB7, {0x10001, 0x3FFFC00001, 0x10002, 0x3FFFC00002}),
         architectural_names, architectural_mispredicts);
constexpr auto skylake_x_table = join(skylake_table, skylake_x_fp_arithmetic);

}  // namespace

std::span<const EventDefinition> skylake_events() { return skylake_table; }
std::span<const EventDefinition> skylake_x_events() { return skylake_x_table; }

}  // namespace pmusim::event_rows

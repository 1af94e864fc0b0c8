// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_GRACEMONT_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_GRACEMONT_FAMILY_H

#include "atom_events.h"
#include "newer_events.h"
#include "tremont_family.h"

/// What Gracemont and its successors share. libpfm4 has none of them; encodings: the vendor's published event
/// lists.
namespace pmusim::event_rows {

inline constexpr std::array gracemont_own{
    row("CPU_CLK_UNHALTED.REF_TSC_P", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("ITLB.FILLS", 0x81, 0x04, on(itlb_miss)),
};

/// Before the architectural topdown events.
inline constexpr std::array gracemont_slots{
    row("TOPDOWN_FE_BOUND.FRONTEND_LATENCY", 0x71, 0x72, sum(Q::slots_fetch_latency)),
    row("TOPDOWN_BAD_SPECULATION.ALL", 0x73, 0x00, sum(Q::slots_bad_speculation)),
};

inline constexpr std::array crestmont_front_end{
    row("FRONTEND_RETIRED.ITLB_MISS", 0xC6, 0x10, on(itlb_miss)),
    row("FRONTEND_RETIRED.ICACHE", 0xC6, 0x20, on(l1i_miss)),
};

inline constexpr std::array skymont_fixed{
    row("TOPDOWN_BAD_SPECULATION.ALL", 0x00, 0x05, sum(Q::slots_bad_speculation)),
    row("TOPDOWN_FE_BOUND.ALL", 0x00, 0x06, sum(Q::slots_frontend)),
    row("TOPDOWN_RETIRING.ALL", 0x00, 0x07, sum(Q::uops)),
    row("TOPDOWN_BAD_SPECULATION.ALL_P", 0x73, 0x00, sum(Q::slots_bad_speculation)),
    row("TOPDOWN_FE_BOUND.ALL_P", 0x9C, 0x01, sum(Q::slots_frontend)),
    row("TOPDOWN_BE_BOUND.ALL_P", 0xA4, 0x02, sum(Q::slots_backend)),
    row("TOPDOWN_RETIRING.ALL_P", 0xC2, 0x02, sum(Q::uops)),
};

inline constexpr std::array skymont_fp{
    row("FP_INST_RETIRED.32B_SP", 0xC7, 0x01, on(fp_scalar_single)),
    row("FP_INST_RETIRED.64B_DP", 0xC7, 0x02, on(fp_scalar_double)),
    row("FP_INST_RETIRED.128B_SP", 0xC7, 0x04, on(fp_packed_128_single)),
    row("FP_INST_RETIRED.128B_DP", 0xC7, 0x08, on(fp_packed_128_double)),
    row("FP_INST_RETIRED.256B_SP", 0xC7, 0x10, on(fp_packed_256_single)),
    row("FP_INST_RETIRED.256B_DP", 0xC7, 0x20, on(fp_packed_256_double)),
};

inline constexpr std::array darkmont_own{
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", 0xD3, 0x01, on(load_dram)),
    row("MEM_LOAD_UOPS_L3_MISS_RETIRED.ALL", 0xD3, 0xFF, on(load_l3_miss)),
    row("L2_REQUEST.DEMAND_DATA_RD_MISS", 0x24, 0x41, sum(Q::l2_data_read_misses)),
    row("L2_REQUEST.DEMAND_RFO_MISS", 0x24, 0x42, sum(Q::l2_ownership_read_misses)),
    row("L2_REQUEST.DEMAND_CODE_RD_MISS", 0x24, 0x44, sum(Q::l2_code_read_misses)),
    row("L2_REQUEST.MISS", 0x24, 0x17F, sum(Q::l2_misses)),
    row("L2_REQUEST.DEMAND_DATA_RD_HIT", 0x24, 0x81, sum_but_not(Q::l2_data_reads, Q::l2_data_read_misses)),
    row("L2_REQUEST.DEMAND_RFO_HIT", 0x24, 0x82,
        sum_but_not(Q::l2_ownership_reads, Q::l2_ownership_read_misses)),
    row("L2_REQUEST.DEMAND_CODE_RD_HIT", 0x24, 0x84, sum_but_not(Q::l2_code_reads, Q::l2_code_read_misses)),
    row("L2_REQUEST.DEMAND_DATA_RD", 0x24, 0xC1, sum(Q::l2_data_reads)),
    row("L2_REQUEST.DEMAND_RFO", 0x24, 0xC2, sum(Q::l2_ownership_reads)),
    row("L2_REQUEST.DEMAND_CODE_RD", 0x24, 0xC4, sum(Q::l2_code_reads)),
    row("L2_REQUEST.ALL", 0x24, 0x1FF, sum(Q::l2_requests)),
    row("L2_REQUEST.HIT", 0x24, 0x1BF, sum_but_not(Q::l2_requests, Q::l2_misses)),
    row("LD_BLOCKS.STORE_FORWARD", 0x03, 0x02, on(store_forward_blocked)),
    row("MACHINE_CLEARS.ANY", 0xC3, 0x00, on(machine_clear)),
    row("MEM_BOUND_STALLS_LOAD.L2_HIT", 0x34, 0x01,
        sum_but_not(Q::stall_cycles_l1_miss, Q::stall_cycles_l2_miss)),
    row("MEM_BOUND_STALLS_LOAD.LLC_HIT", 0x34, 0x06,
        sum_but_not(Q::stall_cycles_l2_miss, Q::stall_cycles_l3_miss)),
    row("UOPS_RETIRED.MS", 0xC2, 0x04, sum(Q::slots_heavy)),
};

inline constexpr auto gracemont_common =
    join(goldmont_fixed, goldmont_clocks, goldmont_memory_uops, gracemont_stlb_misses,
         gracemont_latency_samples, goldmont_plus_walks, atom_resteers, atom_machine_clears, gracemont_own,
         gracemont_pipeline, gracemont_dividers, gracemont_full_buffers, gracemont_clears,
         gracemont_oldest_load, gracemont_walks, architectural_names, architectural_mispredicts);

inline constexpr auto goldmont_and_gracemont_branches = join(goldmont_branches, gracemont_branches);

inline constexpr auto since_darkmont =
    join(gracemont_common, crestmont_fp_divider, darkmont_branches, crestmont_load_sources, darkmont_own,
         skymont_fixed, skymont_fp, crestmont_front_end, architectural_lbr_inserts, skymont_reasons,
         skymont_walks, atom_walks_pending, atom_direct_resteers, skymont_fetch_sources,
         darkmont_fetch_sources, skymont_microcode);

}  // namespace pmusim::event_rows

#endif

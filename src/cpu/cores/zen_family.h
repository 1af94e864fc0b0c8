// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_ZEN_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_ZEN_FAMILY_H

#include "cores.h"
#include "event_rows.h"

/// The events that AMD's Zen cores count.
namespace pmusim::cores::zen {

using namespace event_rows;

/// Fills of L1D for loads and stores, by where the line was.
inline constexpr SignalSet l1d_misses{load_l1_miss, store_l1_miss},
    l2_data_misses{load_l2_miss, store_l2_miss}, l3_data_hits{load_l3_hit, store_l3_hit},
    memory_fills{load_l3_miss, store_l3_miss};
inline constexpr EventRule l2_data_hits{.any = {load_l2_hit, store_l1_miss}, .none = {store_l2_miss}};

/// Counted on Zen 1 to Zen 5, by the numbers and names of the vendor's lists. Branches include interrupts and
/// exceptions, which are far ones. The core runs no wrong path, has one node and one complex, and pages of
/// 4 KiB; an instruction accesses L1D once for loads and stores of any size. A row that lists of some
/// generations leave out has the name that others give it, and 060.C8, which perf asks for, one of ours.
inline constexpr auto common_events = std::to_array<EventDefinition>({
    row("LS_NOT_HALTED_CYC", 0x076, 0x00, sum(Q::cycles)),
    row("EX_RET_INSTR", 0x0C0, 0x00, on(instruction)),
    row("EX_RET_BRN", 0x0C2, 0x00, on(branch)),
    row("EX_RET_BRN_MISP", 0x0C3, 0x00, on(mispredicted)),
    row("EX_RET_BRN_TKN", 0x0C4, 0x00, on_any({near_taken, far_branch})),
    row("EX_RET_BRN_TKN_MISP", 0x0C5, 0x00, on(mispredicted_near_taken)),
    row("EX_RET_BRN_FAR", 0x0C6, 0x00, on(far_branch)),
    row("EX_RET_NEAR_RET", 0x0C8, 0x00, on(near_return)),
    row("EX_RET_NEAR_RET_MISPRED", 0x0C9, 0x00, on(mispredicted_return)),
    row("EX_RET_BRN_IND_MISP", 0x0CA, 0x00, on(mispredicted_indirect)),
    row("EX_RET_COND", 0x0D1, 0x00, on(conditional)),
    row("EX_DIV_BUSY", 0x0D3, 0x00, sum(Q::divider_cycles_integer)),
    row("EX_DIV_COUNT", 0x0D4, 0x00, on(divide)),
    row("EX_TAGGED_IBS_OPS.IBS_TAGGED_OPS", 0x1CF, 0x01, on(ibs_tagged)),
    row("EX_TAGGED_IBS_OPS.IBS_TAGGED_OPS_RET", 0x1CF, 0x02, on(ibs_tagged_retired)),
    row("BP_DE_REDIRECT", 0x091, 0x00, on(front_end_resteer)),
    row("LS_DISPATCH.LD_DISPATCH", 0x029, 0x01, on_but_not(load, store)),
    row("LS_DISPATCH.STORE_DISPATCH", 0x029, 0x02, on_but_not(store, load)),
    row("LS_DISPATCH.LD_ST_DISPATCH", 0x029, 0x04, on_all({load, store})),
    row("LS_DISPATCH.ALL", 0x029, 0x07, on_any({load, store})),
    row("LS_DC_ACCESSES", 0x040, 0x00, on_any({load, store})),
    row("LS_L1_D_TLB_MISS.TLB_RELOAD_4K_L2_HIT", 0x045, 0x01, on_any({load_stlb_hit, store_stlb_hit})),
    row("LS_L1_D_TLB_MISS.TLB_RELOAD_4K_L2_MISS", 0x045, 0x10, on_any({load_stlb_miss, store_stlb_miss})),
    row("LS_L1_D_TLB_MISS.ALL_L2_MISS", 0x045, 0xF0, on_any({load_stlb_miss, store_stlb_miss})),
    row("LS_L1_D_TLB_MISS.ALL", 0x045, 0xFF,
        on_any({load_stlb_hit, store_stlb_hit, load_stlb_miss, store_stlb_miss})),
    row("L2_REQUEST_G1.CACHEABLE_IC_READ", 0x060, 0x10, on(l1i_miss)),
    row("L2_REQUEST_G1.RD_BLK_X", 0x060, 0x40, on(store_l1_miss)),
    row("L2_REQUEST_G1.RD_BLK_L", 0x060, 0x80, on(load_l1_miss)),
    row("L2_REQUEST_G1.RD_BLK_L_X_CHANGE_TO_X", 0x060, 0xC8, on_any(l1d_misses)),
    row("L2_REQUEST_G1.ALL_NO_PREFETCH", 0x060, 0xF9, sum(Q::l2_requests)),
    row("L2_REQUEST_G1.L2_HW_PF", 0x060, 0x02, sum(Q::l2_prefetches)),
    row("L2_REQUEST_G1.ALL", 0x060, 0xFF, sum_of({Q::l2_requests, Q::l2_prefetches})),
    row("L2_CACHE_REQ_STAT.IC_FILL_MISS", 0x064, 0x01, on(l2i_miss)),
    row("L2_CACHE_REQ_STAT.IC_HIT_IN_L2", 0x064, 0x06, on_but_not(l1i_miss, l2i_miss)),
    row("L2_CACHE_REQ_STAT.IC_ACCESS_IN_L2", 0x064, 0x07, on(l1i_miss)),
    row("L2_CACHE_REQ_STAT.LS_RD_BLK_C", 0x064, 0x08, on_any(l2_data_misses)),
    row("L2_CACHE_REQ_STAT.IC_DC_MISS_IN_L2", 0x064, 0x09, sum(Q::l2_misses)),
    row("L2_CACHE_REQ_STAT.LS_RD_BLK_X", 0x064, 0x10, on_but_not(store_l1_miss, store_l2_miss)),
    row("L2_CACHE_REQ_STAT.LS_RD_BLK_L_HIT_X", 0x064, 0x40, on(load_l2_hit)),
    row("L2_CACHE_REQ_STAT.DC_HIT_IN_L2", 0x064, 0xF0, l2_data_hits),
    row("IC_CACHE_FILL_L2", 0x082, 0x00, on_but_not(l1i_miss, l2i_miss)),
    row("IC_CACHE_FILL_SYS", 0x083, 0x00, on(l2i_miss)),
    row("BP_L1_TLB_MISS_L2_HIT", 0x084, 0x00, on_but_not(itlb_miss, stlb_instruction_miss)),
    row("BP_L1_TLB_MISS_L2_MISS", 0x085, 0xFF, on(stlb_instruction_miss)),
});

/// Floating-point operations. Zen tells precisions apart in bits of the umask, and Zen 5 in a code.
inline constexpr SignalSet scalar_single{fp_scalar_single}, scalar_double{fp_scalar_double},
    packed_single{fp_packed_128_single, fp_packed_256_single, fp_packed_512_single},
    packed_double{fp_packed_128_double, fp_packed_256_double, fp_packed_512_double};
constexpr EventRule of(const SignalSet& any, EventRule rule) {
  rule.any = any;
  return rule;
}
inline constexpr EventRule all_flops =
    sum_of({Q::flops_add, Q::flops_multiply, Q::flops_divide, Q::flops_multiply_add});
inline constexpr auto flops_by_kind = std::to_array<EventDefinition>({
    row("FP_RET_SSE_AVX_OPS.ADD_SUB_FLOPS", 0x003, 0x01, sum(Q::flops_add)),
    row("FP_RET_SSE_AVX_OPS.MULT_FLOPS", 0x003, 0x02, sum(Q::flops_multiply)),
    row("FP_RET_SSE_AVX_OPS.DIV_FLOPS", 0x003, 0x04, sum(Q::flops_divide)),
    row("FP_RET_SSE_AVX_OPS.MAC_FLOPS", 0x003, 0x08, sum(Q::flops_multiply_add)),
});

/// Of one or two generations.
inline constexpr auto until_zen2 = std::to_array<EventDefinition>({
    row("EX_RET_COPS", 0x0C1, 0x00, sum(Q::uops)),
    row("EX_RET_FUS_BRNCH_INST", 0x1D0, 0x00, on_fused_pair()),
    row("LS_MISAL_ACCESSES", 0x047, 0x00, on_any({split_load, split_store})),
});
inline constexpr auto until_zen3 = std::to_array<EventDefinition>({
    row("FP_RET_SSE_AVX_OPS.ALL", 0x003, 0xFF, all_flops),
    row("EX_RET_MMX_FP_INSTR.X87_INSTR", 0x0CB, 0x01, on(x87)),
    row("EX_RET_BRN_RESYNC", 0x0C7, 0x00, on(self_modifying_clear)),
    row("LS_TABLEWALKER.DSIDE", 0x046, 0x03, sum_of({Q::page_walks_load, Q::page_walks_store})),
    row("LS_TABLEWALKER.ISIDE", 0x046, 0x0C, sum(Q::page_walks_instruction)),
    row("LS_MAB_ALLOC.LOADS", 0x041, 0x01, on(load_l1_miss)),
    row("LS_MAB_ALLOC.STORES", 0x041, 0x02, on(store_l1_miss)),
    row("IC_OC_MODE_SWITCH.OC_IC_MODE_SWITCH", 0x28A, 0x02, on(dsb_to_mite)),
});
inline constexpr auto only_zen1 = std::to_array<EventDefinition>({
    row("FP_RET_SSE_AVX_OPS.SP_ADD_SUB_FLOPS", 0x003, 0x01,
        of(scalar_single | packed_single, sum(Q::flops_add))),
    row("FP_RET_SSE_AVX_OPS.SP_MULT_FLOPS", 0x003, 0x02,
        of(scalar_single | packed_single, sum(Q::flops_multiply))),
    row("FP_RET_SSE_AVX_OPS.SP_DIV_FLOPS", 0x003, 0x04,
        of(scalar_single | packed_single, sum(Q::flops_divide))),
    row("FP_RET_SSE_AVX_OPS.SP_MULT_ADD_FLOPS", 0x003, 0x08,
        of(scalar_single | packed_single, sum(Q::flops_multiply_add))),
    row("FP_RET_SSE_AVX_OPS.DP_ADD_SUB_FLOPS", 0x003, 0x10,
        of(scalar_double | packed_double, sum(Q::flops_add))),
    row("FP_RET_SSE_AVX_OPS.DP_MULT_FLOPS", 0x003, 0x20,
        of(scalar_double | packed_double, sum(Q::flops_multiply))),
    row("FP_RET_SSE_AVX_OPS.DP_DIV_FLOPS", 0x003, 0x40,
        of(scalar_double | packed_double, sum(Q::flops_divide))),
    row("FP_RET_SSE_AVX_OPS.DP_MULT_ADD_FLOPS", 0x003, 0x80,
        of(scalar_double | packed_double, sum(Q::flops_multiply_add))),
    row("DE_DIS_DISPATCH_TOKEN_STALLS0.RETIRE_TOKEN_STALL", 0x0AF, 0x40, sum(Q::reorder_buffer_full_cycles)),
});
inline constexpr auto only_zen2 = std::to_array<EventDefinition>({
    row("EX_RET_COND_MISP", 0x0D2, 0x00, on(mispredicted_conditional)),
    row("LS_REFILLS_FROM_SYS.LS_MABRESP_LCL_L2", 0x043, 0x01, l2_data_hits),
    row("LS_REFILLS_FROM_SYS.LS_MABRESP_LCL_CACHE", 0x043, 0x02, on_any(l3_data_hits)),
    row("LS_REFILLS_FROM_SYS.LS_MABRESP_LCL_DRAM", 0x043, 0x08, on_any(memory_fills)),
    row("DE_DIS_UOPS_FROM_DECODER.DECODER_DISPATCHED", 0x0AA, 0x01, sum_of({Q::uops_mite, Q::uops_ms})),
    row("DE_DIS_UOPS_FROM_DECODER.OPCACHE_DISPATCHED", 0x0AA, 0x02, sum(Q::uops_dsb)),
    row("DE_DIS_DISPATCH_TOKEN_STALLS0.RETIRE_TOKEN_STALL", 0x0AF, 0x20, sum(Q::reorder_buffer_full_cycles)),
    row("DE_DIS_DISPATCH_TOKEN_STALLS1.LOAD_QUEUE_TOKEN_STALL", 0x0AE, 0x02, sum(Q::load_buffer_full_cycles)),
    row("DE_DIS_DISPATCH_TOKEN_STALLS1.STORE_QUEUE_TOKEN_STALL", 0x0AE, 0x04,
        sum(Q::store_buffer_full_cycles)),
});
inline constexpr auto since_zen2 = std::to_array<EventDefinition>({
    row("LS_BAD_STATUS2.STLI_OTHER", 0x024, 0x02, on(store_forward_blocked)),
});
inline constexpr auto zen2_and_3 = std::to_array<EventDefinition>({
    row("DE_DIS_UOP_QUEUE_EMPTY_DI0", 0x0A9, 0x00, sum(Q::starved_cycles)),
});
inline constexpr auto since_zen3 = std::to_array<EventDefinition>({
    row("EX_RET_OPS", 0x0C1, 0x00, sum(Q::uops)),
    row("EX_RET_IND_BRCH_INSTR", 0x0CC, 0x00, on(indirect)),
    row("EX_RET_FUSED_INSTR", 0x1D0, 0x00, on_fused_pair()),
    row("EX_RET_MSPRD_BRNCH_INSTR_DIR_MSMTCH", 0x1C7, 0x00, on(mispredicted_conditional)),
    row("LS_MISAL_LOADS.MA64", 0x047, 0x01, on(split_load)),
    row("LS_DMND_FILLS_FROM_SYS.LOCAL_L2", 0x043, 0x01, l2_data_hits),
    row("LS_DMND_FILLS_FROM_SYS.LOCAL_CCX", 0x043, 0x02, on_any(l3_data_hits)),
    row("LS_DMND_FILLS_FROM_SYS.NEAR_CACHE", 0x043, 0x04, never()),
    row("LS_DMND_FILLS_FROM_SYS.DRAM_IO_NEAR", 0x043, 0x08, on_any(memory_fills)),
    row("LS_DMND_FILLS_FROM_SYS.FAR_CACHE", 0x043, 0x10, never()),
    row("LS_DMND_FILLS_FROM_SYS.DRAM_IO_FAR", 0x043, 0x40, never()),
    row("LS_DMND_FILLS_FROM_SYS.ALL", 0x043, 0xFF, on_any(l1d_misses)),
    row("LS_ANY_FILLS_FROM_SYS.ALL", 0x044, 0xFF, sum(Q::l1d_replacements)),
    row("IC_TAG_HIT_MISS.INSTRUCTION_CACHE_HIT", 0x18E, 0x07, sum(Q::l1i_hits)),
    row("IC_TAG_HIT_MISS.INSTRUCTION_CACHE_MISS", 0x18E, 0x18, sum(Q::l1i_misses)),
    row("IC_TAG_HIT_MISS.ALL_INSTRUCTION_CACHE_ACCESSES", 0x18E, 0x1F, sum_of({Q::l1i_hits, Q::l1i_misses})),
});
inline constexpr auto zen3_and_4 = std::to_array<EventDefinition>({
    row("LS_MAB_ALLOC.LOAD_STORE_ALLOCATIONS", 0x041, 0x3F, on_any(l1d_misses)),
    row("DE_DIS_DISPATCH_TOKEN_STALLS1.LOAD_QUEUE_RSRC_STALL", 0x0AE, 0x02, sum(Q::load_buffer_full_cycles)),
    row("DE_DIS_DISPATCH_TOKEN_STALLS1.STORE_QUEUE_RSRC_STALL", 0x0AE, 0x04,
        sum(Q::store_buffer_full_cycles)),
    row("DE_DIS_DISPATCH_TOKEN_STALLS2.RETIRE_TOKEN_STALL", 0x0AF, 0x20, sum(Q::reorder_buffer_full_cycles)),
});
inline constexpr auto since_zen4 = std::to_array<EventDefinition>({
    row("EX_RET_UNCOND_BRNCH_INSTR_MISPRED", 0x1C8, 0x00, on_but_not(mispredicted, conditional)),
    row("EX_RET_UNCOND_BRNCH_INSTR", 0x1C9, 0x00, on_but_not(branch, conditional)),
    row("EX_RET_UCODE_INSTR", 0x1C1, 0x00, on(microcoded)),
    row("EX_RET_UCODE_OPS", 0x1C2, 0x00, sum(Q::slots_heavy)),
    row("EX_NO_RETIRE.ALL", 0x0D6, 0x1B, sum(Q::stall_cycles)),
    row("EX_NO_RETIRE.LOAD_NOT_COMPLETE", 0x0D6, 0xA2, sum(Q::stall_cycles_memory)),
    row("LS_NOT_HALTED_P0_CYC.P0_FREQ_CYC", 0x120, 0x01, sum(Q::reference_cycles)),
    row("DE_NO_DISPATCH_PER_SLOT.NO_OPS_FROM_FRONTEND", 0x1A0, 0x01, sum(Q::slots_frontend)),
    row("DE_NO_DISPATCH_PER_SLOT.BACKEND_STALLS", 0x1A0, 0x1E, sum(Q::slots_backend)),
    row("DE_NO_DISPATCH_PER_SLOT.SMT_CONTENTION", 0x1A0, 0x60, never()),
    row("DE_OP_QUEUE_EMPTY", 0x0A9, 0x00, sum(Q::starved_cycles)),
    row("DE_SRC_OP_DISP.OP_CACHE", 0x0AA, 0x02, sum(Q::uops_dsb)),
    row("DE_SRC_OP_DISP.ALL", 0x0AA, 0x07, sum(Q::uops_issued)),
    row("L2_CACHE_REQ_STAT.DC_ACCESS_IN_L2", 0x064, 0xF8, on_any(l1d_misses)),
    row("L2_CACHE_REQ_STAT.ALL", 0x064, 0xFF, sum(Q::l2_requests)),
});
inline constexpr auto only_zen4 = std::to_array<EventDefinition>({
    row("FP_RET_SSE_AVX_OPS.ALL", 0x003, 0x1F, all_flops),
    row("DE_SRC_OP_DISP.DECODER", 0x0AA, 0x01, sum_of({Q::uops_mite, Q::uops_ms})),
    row("RESYNCS_OR_NC_REDIRECTS", 0x096, 0x00, on(machine_clear)),
});
inline constexpr auto only_zen5 = std::to_array<EventDefinition>({
    row("FP_RET_SSE_AVX_OPS.ALL", 0x003, 0x0F, all_flops),
    row("FP_RET_SSE_AVX_OPS.SCALAR_SINGLE_FLOPS", 0x003, 0x40, of(scalar_single, all_flops)),
    row("FP_RET_SSE_AVX_OPS.PACKED_SINGLE_FLOPS", 0x003, 0x60, of(packed_single, all_flops)),
    row("FP_RET_SSE_AVX_OPS.SCALAR_DOUBLE_FLOPS", 0x003, 0x80, of(scalar_double, all_flops)),
    row("FP_RET_SSE_AVX_OPS.PACKED_DOUBLE_FLOPS", 0x003, 0xA0, of(packed_double, all_flops)),
    row("DE_SRC_OP_DISP.X86_DECODER", 0x0AA, 0x01, sum_of({Q::uops_mite, Q::uops_ms})),
    row("BP_REDIRECTS.ALL", 0x09F, 0x00, on_any({machine_clear, mispredicted})),
    row("BP_REDIRECTS.RESYNC", 0x09F, 0x01, on(machine_clear)),
    row("BP_REDIRECTS.EX_REDIR", 0x09F, 0x02, on(mispredicted)),
    row("LS_LOCKS.ALL", 0x025, 0x1F, on(locked)),
    row("LS_MAB_ALLOC.LOAD_STORE_ALLOCATIONS", 0x041, 0x07, on_any(l1d_misses)),
    row("L2_FILL_RSP_SRC.ALL", 0x165, 0xDE, sum(Q::l2_lines_in)),
    row("DE_DISPATCH_STALL_CYCLE_DYNAMIC_TOKENS_PART1.LOAD_QUEUE_RSRC_STALL", 0x0AE, 0x02,
        sum(Q::load_buffer_full_cycles)),
    row("DE_DISPATCH_STALL_CYCLE_DYNAMIC_TOKENS_PART1.STORE_QUEUE_RSRC_STALL", 0x0AE, 0x04,
        sum(Q::store_buffer_full_cycles)),
    row("DE_DISPATCH_STALL_CYCLE_DYNAMIC_TOKENS_PART2.RETQ", 0x0AF, 0x20, sum(Q::reorder_buffer_full_cycles)),
});

/// Event select bits of an event of 12 bits.
constexpr u64 code(u16 event, u16 umask = 0) {
  return (event & u64{0xFF}) | u64{umask} << 8 | u64{event} >> 8 << 32;
}

/// perf's generic events (Linux: amd_zen1_perfmon_event_map and those after it). The L2 stands in for the
/// last-level cache.
inline constexpr auto common_generic = std::to_array<GenericRow>({
    {GenericEvent::cpu_cycles, code(0x076)},
    {GenericEvent::instructions, code(0x0C0)},
    {GenericEvent::cache_references, code(0x060, 0xFF)},
    {GenericEvent::cache_misses, code(0x064, 0x09)},
    {GenericEvent::branch_instructions, code(0x0C2)},
    {GenericEvent::branch_misses, code(0x0C3)},
});
inline constexpr auto generic_of_zen1 = join(
    common_generic, std::to_array<GenericRow>({{GenericEvent::stalled_cycles_frontend, code(0x087, 0x02)},
                                               {GenericEvent::stalled_cycles_backend, code(0x087, 0x01)}}));
inline constexpr auto generic_of_zen2 =
    join(common_generic, std::to_array<GenericRow>({{GenericEvent::stalled_cycles_frontend, code(0x0A9)}}));
inline constexpr auto generic_of_zen4 =
    join(generic_of_zen2, std::to_array<GenericRow>({{GenericEvent::ref_cycles, code(0x120, 0x01)}}));

/// perf's cache events of family 17H and later (Linux: amd_hw_cache_event_ids_f17h), on every Zen alike.
inline constexpr auto cache_events = std::to_array<CacheEvent>({
    {CacheId::l1d, CacheOperation::read, CacheResult::access, code(0x040)},
    {CacheId::l1d, CacheOperation::read, CacheResult::miss, code(0x060, 0xC8)},
    {CacheId::l1d, CacheOperation::prefetch, CacheResult::access, code(0x05A, 0xFF)},
    {CacheId::l1i, CacheOperation::read, CacheResult::access, code(0x080)},
    {CacheId::l1i, CacheOperation::read, CacheResult::miss, code(0x081)},
    {CacheId::dtlb, CacheOperation::read, CacheResult::access, code(0x045, 0xFF)},
    {CacheId::dtlb, CacheOperation::read, CacheResult::miss, code(0x045, 0xF0)},
    {CacheId::itlb, CacheOperation::read, CacheResult::access, code(0x084)},
    {CacheId::itlb, CacheOperation::read, CacheResult::miss, code(0x085, 0xFF)},
    {CacheId::bpu, CacheOperation::read, CacheResult::access, code(0x0C2)},
    {CacheId::bpu, CacheOperation::read, CacheResult::miss, code(0x0C3)},
});

}  // namespace pmusim::cores::zen

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_ZEN_FAMILY_H
#define PMUSIM_SRC_CPU_CORES_ZEN_FAMILY_H

#include "core_numbers.h"
#include "cores.h"
#include "event_rows.h"
#include "presets.h"

/// What AMD's Zen cores have in common: their products as rows, and the events that all of them count.
namespace pmusim {
namespace presets {

/// A product: its CPUID signature, and the words of the dump (InstLatX64) that say what its PMU has.
struct AmdProduct {
  std::string_view name, title;
  u32 family = 0, model = 0, stepping = 0;
  u64 tsc_hz = 0;
  AmdFeatures words;
  u64 xcr0 = 7, xss = 0;
  bool has_x2apic = true;
};

/// Six counters of 48 bits and no fixed ones, as every Zen has them. What `numbers` leaves out of the timing
/// model is as in a CoreParameters that nobody set.
CpuModel amd_model(const AmdProduct& product, std::span<const CoreNumber> numbers);

/// `CoreFacts::presets` wants functions.
template <const AmdProduct& product, const auto& numbers>
CpuModel amd_preset() {
  return amd_model(product, numbers);
}

inline constexpr u64 avx_and_pkru = 0x207, avx512_and_pkru = 0x2E7, cet = 0x1800;

}  // namespace presets

namespace cores::zen {

using namespace event_rows;

/// Counted on Zen 1 to Zen 5, by the numbers and names of the vendor's lists. Branches include interrupts and
/// exceptions, which are far ones.
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
    row("EX_DIV_COUNT", 0x0D4, 0x00, on(divide)),
    row("LS_L1_D_TLB_MISS.TLB_RELOAD_4K_L2_HIT", 0x045, 0x01, on_any({load_stlb_hit, store_stlb_hit})),
    row("LS_L1_D_TLB_MISS.TLB_RELOAD_4K_L2_MISS", 0x045, 0x10, on_any({load_stlb_miss, store_stlb_miss})),
});

/// Ops that retire, under the names that the lists have used for them.
inline constexpr auto ops_of_zen1 =
    std::to_array<EventDefinition>({row("EX_RET_COPS", 0x0C1, 0x00, sum(Q::uops)),
                                    row("EX_RET_FUS_BRNCH_INST", 0x1D0, 0x00, on_fused_pair())});
inline constexpr auto ops_of_zen3 = std::to_array<EventDefinition>({
    row("EX_RET_OPS", 0x0C1, 0x00, sum(Q::uops)),
    row("EX_RET_IND_BRCH_INSTR", 0x0CC, 0x00, on(indirect)),
    row("EX_RET_FUSED_INSTR", 0x1D0, 0x00, on_fused_pair()),
    row("LS_MISAL_LOADS.MA64", 0x047, 0x01, on(split_load)),
});
inline constexpr auto since_zen4 = std::to_array<EventDefinition>({
    row("EX_RET_UNCOND_BRNCH_INSTR_MISPRED", 0x1C8, 0x00, on_but_not(mispredicted, conditional)),
    row("EX_RET_UNCOND_BRNCH_INSTR", 0x1C9, 0x00, on_but_not(branch, conditional)),
    row("EX_RET_UCODE_INSTR", 0x1C1, 0x00, on(microcoded)),
    row("EX_NO_RETIRE.ALL", 0x0D6, 0x1B, sum(Q::stall_cycles)),
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

}  // namespace cores::zen
}  // namespace pmusim

#endif

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

}  // namespace cores::zen
}  // namespace pmusim

#endif

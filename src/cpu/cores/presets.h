// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_PRESETS_H
#define PMUSIM_SRC_CPU_CORES_PRESETS_H

#include "pmusim/cpu/model.h"

/// Products that other cores' products are derived from, by copying and changing members. Values are those of
/// manuals and dumps (docs/registers.md).
namespace pmusim::presets {

CpuModel yonah();
CpuModel nehalem();
CpuModel sandybridge();
CpuModel haswell();
CpuModel broadwell();
CpuModel skylake();
CpuModel icelake_server();
CpuModel sapphirerapids();
CpuModel redwoodcove();
CpuModel lioncove();
CpuModel cougarcove();
CpuModel diamondrapids();

CpuModel bonnell();
CpuModel silvermont();
CpuModel goldmont();
CpuModel goldmont_plus();
CpuModel tremont();
CpuModel gracemont();
CpuModel crestmont();
CpuModel skymont();
CpuModel darkmont();

/// Bitmap of fixed counters in the position they have in GLOBAL_CTRL.
constexpr u64 fixed(u64 bitmap) { return bitmap << 32; }

/// 32 records, depths 8, 16 and 32 (CPUID.1CH). `ecx`: what records tell; 000F0007 with branch counters.
inline LbrFeatures architectural_lbr(u32 eax_flags, u32 ecx) {
  return {.depth = 32,
          .format = LbrFormat::arch,
          .call_stack = true,
          .arch_depths = 0x0B,
          .cpuid_1c_eax_flags = eax_flags,
          .cpuid_1c_ebx = 7,
          .cpuid_1c_ecx = ecx};
}
inline constexpr u32 lbr_deep_cstate_reset = 0x40000000, lbr_linear_ip = 0x80000000;
inline constexpr u32 lbr_records = 7, lbr_records_and_counters = 0x000F0007;

/// What Lunar Lake, Arrow Lake-S and Panther Lake report in leaf 0AH for both of their cores.
inline constexpr CommonView version_6_hybrid_view{
    .gp_counters = 0xFF, .fixed_counters = 7, .arch_events = 0x1D7F};
inline constexpr unsigned version_6_events = 13;

}  // namespace pmusim::presets

#endif

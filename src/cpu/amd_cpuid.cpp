// SPDX-License-Identifier: MIT
#include "cpu/amd_cpuid.h"

namespace pmusim {
namespace {

/// Where components lie in the standard format, which CPUID tells: those that Intel alone has leave no gap
/// (Linux's boot log on Zen 3 and Zen 4).
xsave::ComponentTable amd_components(u64 xcr0) {
  constexpr unsigned opmask = 5, zmm_high = 6, high_zmm = 7, pkru = 9;
  const bool has_avx512 = (xcr0 & bit(opmask)) != 0;
  xsave::ComponentTable table = xsave::intel_components;
  table[opmask].standard_offset = 832;
  table[zmm_high].standard_offset = 896;
  table[high_zmm].standard_offset = 1408;
  table[pkru].standard_offset = has_avx512 ? 2432 : 832;
  return table;
}

}  // namespace

void derive_from_cpuid(CpuModel& model) {
  constexpr u32 ibpb = 1u << 12;  // CPUID.80000008H:EBX
  model.has_ibpb = (model.amd.cpuid_80000008_ebx & ibpb) != 0;
  model.xsave_components = amd_components(model.xcr0);
  if (!model.amd.has_lbr_stack()) return;
  model.lbr.depth = model.amd.cpuid_80000022_ebx >> 4 & 0x3F;
  model.lbr.format = LbrFormat::amd_v2;
  model.lbr.has_select = true;
}

}  // namespace pmusim

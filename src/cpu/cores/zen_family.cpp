// SPDX-License-Identifier: MIT
#include "zen_family.h"

namespace pmusim::presets {
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

CpuModel amd_model(const AmdProduct& product) {
  constexpr u32 ibpb = 1u << 12;  // CPUID.80000008H:EBX
  CpuModel m;
  m.name = product.name;
  m.title = product.title;
  m.vendor = Vendor::amd;
  m.family = product.family;
  m.model = product.model;
  m.stepping = product.stepping;
  m.amd = product.words;
  m.gp_counters = 0x3F;
  m.freeze = FreezeStyle::streamlined;
  m.rdpmc = RdpmcEncoding::plain;
  m.select = SelectLayout::wide_events;
  m.pmi_masks_lvtpc = false;
  m.has_pdcm = false;
  m.has_x2apic = product.has_x2apic;
  m.has_ibpb = (m.amd.cpuid_80000008_ebx & ibpb) != 0;
  m.misc_enable = 0;
  m.xcr0 = product.xcr0;
  m.xss = product.xss;
  m.has_xsaves = true;
  m.xsave_components = amd_components(product.xcr0);
  if (m.amd.has_lbr_stack()) {
    m.lbr.depth = m.amd.cpuid_80000022_ebx >> 4 & 0x3F;
    m.lbr.format = LbrFormat::amd_v2;
    m.lbr.has_select = true;
  }
  return m;
}

}  // namespace pmusim::presets

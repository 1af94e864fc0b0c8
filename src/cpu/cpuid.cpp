// SPDX-License-Identifier: MIT
#include "pmusim/base/bus.h"
#include "pmusim/cpu/model.h"

namespace pmusim {
namespace {

/// Family, model and stepping as leaf 1 packs them (SDM vol. 2, CPUID).
u32 signature(const CpuModel& m) {
  const u32 base_family = m.family < 0xF ? m.family : 0xF;
  const u32 extended_family = m.family < 0xF ? 0 : m.family - 0xF;
  return extended_family << 20 | (m.model >> 4) << 16 | base_family << 8 | (m.model & 0xF) << 4 | m.stepping;
}

CpuidResult leaf_1(const CpuModel& m) {
  constexpr u32 dtes64 = bit(2), ds_cpl = bit(4), pdcm = bit(15), x2apic = bit(21), xsave = bit(26),
                osxsave = bit(27);
  constexpr u32 tsc = bit(4), msr = bit(5), apic = bit(9), clfsh = bit(19), ds = bit(21);
  const u32 flushed_quadwords = m.core.l1d.line_bytes / 8;
  CpuidResult r{.eax = signature(m), .ebx = 0x00010000 | (flushed_quadwords & 0xFF) << 8};
  const bool has_ds = m.pebs.format != PebsFeatures::none;
  r.ecx = (has_ds ? ds_cpl : 0) | (has_ds && m.pebs.dtes64 ? dtes64 : 0) | (m.has_pdcm ? pdcm : 0) |
          (m.has_x2apic ? x2apic : 0) | (m.xcr0 != 0 ? xsave | osxsave : 0);
  r.edx = tsc | msr | apic | clfsh | (has_ds ? ds : 0);
  return r;
}

CpuidResult leaf_7(const CpuModel& m, u32 subleaf) {
  constexpr u64 apx = bit(19);
  CpuidResult r;
  if (subleaf == 1) {
    r.eax = u32{m.arch_perfmon_ext} << 8;
    r.edx = u32{(m.xcr0 & apx) != 0} << 21;
  }
  if (subleaf != 0) return r;
  r.eax = 1;
  r.ebx = u32{m.has_tsc_adjust} << 1 | u32{m.hle} << 4 | u32{m.rtm} << 11;
  r.ecx = u32{m.has_bus_lock_detect} << 24;
  r.edx = u32{m.has_tsx_force_abort} << 13 | u32{m.hybrid} << 15 | u32{m.has_arch_lbr()} << 19 |
          u32{m.has_ibpb} << 26;
  return r;
}

CpuidResult leaf_0a(const CpuModel& m) {
  if (m.perfmon_version == 0) return {};
  const CommonView view = m.package_view.value_or(CommonView{m.gp_counters, m.fixed_counters, m.arch_events});
  const u32 width = m.counter_width;
  CpuidResult r;
  r.eax = m.perfmon_version | static_cast<u32>(std::popcount(view.gp_counters)) << 8 | width << 16 |
          m.arch_events_length << 24;
  r.ebx = ~view.arch_events & static_cast<u32>(low_bits(m.arch_events_length));
  if (m.perfmon_version >= 5) r.ecx = view.fixed_counters;
  const bool anythread_deprecated = m.perfmon_version >= 4 && !m.anythread;
  if (m.perfmon_version >= 2)
    r.edx = static_cast<u32>(std::countr_one(view.fixed_counters)) | width << 5 |
            u32{anythread_deprecated} << 15 | m.leaf_0a_edx_strays;
  return r;
}

/// As it reads with XCR0 holding all that the model has, and IA32_XSS nothing.
CpuidResult leaf_0d(const CpuModel& m, u32 subleaf) {
  constexpr u64 avx = bit(2), amx_data = bit(18);
  const auto low = [](u64 v) { return static_cast<u32>(v); };
  const auto high = [](u64 v) { return static_cast<u32>(v >> 32); };
  if (m.xcr0 == 0) return {};
  if (subleaf == 0) {
    const u32 bytes = xsave::standard_layout(m.xsave_components, m.xcr0).bytes;
    return {.eax = low(m.xcr0), .ebx = bytes, .ecx = bytes, .edx = high(m.xcr0)};
  }
  if (subleaf == 1) {
    const u32 xsaveopt = (m.xcr0 & avx) != 0 || m.has_xsaves, xsavec_xgetbv_xsaves = m.has_xsaves ? 0xE : 0;
    const u32 xfd = (m.xcr0 & amx_data) != 0 ? 0x10 : 0;
    return {.eax = xsaveopt | xsavec_xgetbv_xsaves | xfd,
            .ebx = m.has_xsaves ? xsave::compacted_layout(m.xsave_components, m.xcr0).bytes : 0,
            .ecx = low(m.xss),
            .edx = high(m.xss)};
  }
  if (subleaf >= xsave::component_count || ((m.xcr0 | m.xss) & bit(subleaf)) == 0) return {};
  const xsave::Component& c = m.xsave_components[subleaf];
  return {.eax = c.bytes,
          .ebx = c.standard_offset,
          .ecx = u32{c.supervisor} | u32{c.aligned} << 1 | u32{c.disableable} << 2};
}

CpuidResult leaf_1a(const CpuModel& m) {
  if (m.native_model_id == 0) return {};
  return {.eax = (m.core_type == CoreType::atom ? 0x20u : 0x40u) << 24 | m.native_model_id};
}

CpuidResult leaf_1c(const CpuModel& m) {
  if (!m.has_arch_lbr()) return {};
  return {.eax = m.lbr.arch_depths | m.lbr.cpuid_1c_eax_flags,
          .ebx = m.lbr.cpuid_1c_ebx,
          .ecx = m.lbr.cpuid_1c_ecx};
}

CpuidResult leaf_23(const CpuModel& m, u32 subleaf) {
  if (!m.arch_perfmon_ext) return {};
  const bool acr = m.acr.cause != 0, pebs = m.has_arch_pebs();
  const auto low = [](u64 v) { return static_cast<u32>(v); };
  const auto high = [](u64 v) { return static_cast<u32>(v >> 32); };
  switch (subleaf) {
    case 0:
      return {.eax = 0xBu | u32{acr} << 2 | (pebs ? 0x30u : 0u),
              .ebx = m.perfmon_ext_ebx,
              .ecx = m.core_type == CoreType::atom ? m.core.issue_width : 0};
    case 1:
      return {.eax = m.gp_counters, .ebx = m.fixed_counters};
    case 2:
      return acr ? CpuidResult{low(m.acr.reloadable), high(m.acr.reloadable), low(m.acr.cause),
                               high(m.acr.cause)}
                 : CpuidResult{};
    case 3:
      return {.eax = m.arch_events};
    case 4:
      return pebs ? CpuidResult{.ebx = high(m.pebs_groups())} : CpuidResult{};
    case 5:
      return pebs ? CpuidResult{low(m.pebs.counters), low(m.pebs.distribution), high(m.pebs.counters),
                                high(m.pebs.distribution)}
                  : CpuidResult{};
    default:
      return {};
  }
}

CpuidResult leaf_80000001(const CpuModel& m) {
  constexpr u32 rdtscp = bit(27), long_mode = bit(29);
  return {.edx = (m.has_rdtscp ? rdtscp : 0) | long_mode};
}

u32 highest_leaf(const CpuModel& m) {
  if (m.arch_perfmon_ext) return 0x23;
  if (m.has_arch_lbr()) return 0x1C;
  return m.xcr0 != 0 ? 0xD : 0xA;
}

CpuidResult intel_leaf(const CpuModel& model, u32 leaf, u32 subleaf) {
  switch (leaf) {
    case 0:  // "GenuineIntel"
      return {.eax = highest_leaf(model), .ebx = 0x756E6547, .ecx = 0x6C65746E, .edx = 0x49656E69};
    case 1:
      return leaf_1(model);
    case 6:
      return {.ecx = 1};
    case 7:
      return leaf_7(model, subleaf);
    case 0xA:
      return leaf_0a(model);
    case 0xD:
      return leaf_0d(model, subleaf);
    case 0x1A:
      return leaf_1a(model);
    case 0x1C:
      return leaf_1c(model);
    case 0x23:
      return leaf_23(model, subleaf);
    case 0x80000000:
      return {.eax = 0x80000001};
    case 0x80000001:
      return leaf_80000001(model);
    default:
      return {};
  }
}

u32 highest_amd_leaf(const AmdFeatures& amd) {
  if (amd.cpuid_80000022_eax != 0) return 0x80000022;
  if (amd.cpuid_80000021_eax != 0) return 0x80000021;
  return amd.has_ibs() ? 0x8000001B : 0x80000008;
}

/// Of the words that were dumped what the hardware model has.
CpuidResult amd_leaf(const CpuModel& model, u32 leaf, u32 subleaf) {
  constexpr u32 core_extension_and_ibs = bit(23) | bit(10) | bit(3);       // 80000001H:ECX
  constexpr u32 irperf_ibpb_and_brs = bit(1) | bit(12) | bit(31);          // 80000008H:EBX
  constexpr u32 precise_retire = bit(12);                                  // 80000021H:EAX
  constexpr u32 perfmon_v2_lbr_freeze = 7, core_counters_and_lbr = 0x3FF;  // 80000022H:EAX and EBX
  const AmdFeatures& amd = model.amd;
  switch (leaf) {
    case 0:  // "AuthenticAMD"
      return {.eax = highest_leaf(model), .ebx = 0x68747541, .ecx = 0x444D4163, .edx = 0x69746E65};
    case 1:
      return leaf_1(model);
    case 6:
      return {.ecx = 1};
    case 0xD:
      return leaf_0d(model, subleaf);
    case 0x80000000:
      return {.eax = highest_amd_leaf(amd), .ebx = 0x68747541, .ecx = 0x444D4163, .edx = 0x69746E65};
    case 0x80000001: {
      CpuidResult result = leaf_80000001(model);
      result.ecx = amd.cpuid_80000001_ecx & core_extension_and_ibs;
      return result;
    }
    case 0x80000008:
      return {.eax = amd.cpuid_80000008_eax, .ebx = amd.cpuid_80000008_ebx & irperf_ibpb_and_brs};
    case 0x8000001B:
      return {.eax = amd.has_ibs() ? amd.cpuid_8000001b_eax : 0};
    case 0x80000021:
      return {.eax = amd.cpuid_80000021_eax & precise_retire};
    case 0x80000022:
      return {.eax = amd.cpuid_80000022_eax & perfmon_v2_lbr_freeze,
              .ebx = amd.cpuid_80000022_ebx & core_counters_and_lbr};
    default:
      return {};
  }
}

}  // namespace

CpuidResult cpuid(const CpuModel& model, u32 leaf, u32 subleaf) {
  return model.vendor == Vendor::amd ? amd_leaf(model, leaf, subleaf) : intel_leaf(model, leaf, subleaf);
}

}  // namespace pmusim

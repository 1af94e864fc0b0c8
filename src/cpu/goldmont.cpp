#include "presets.h"

namespace pmusim::presets {

/// Four counters of 48 bits, streamlined freeze, 32 LBR records with the cycle count in TO; PEBS on counter
/// 0.
CpuModel goldmont() {
  CpuModel m;
  m.name = "goldmont";
  m.title = "Goldmont";
  m.pfm_name = "glm";
  m.core_type = CoreType::atom;
  m.model = 0x5C;
  m.stepping = 9;
  m.perfmon_version = 4;
  m.gp_counters = 0xF;
  m.fixed_counters = 0x7;
  m.arch_events = 0x7F;
  m.perf_capabilities = 0x33C6;
  m.freeze = FreezeStyle::streamlined;
  m.anythread = true;
  m.has_tsc_adjust = true;
  m.has_xsaves = true;
  m.offcore_rsp = {0x760005FFBF, 0x360005FFBF};
  m.xcr0 = 0x1B;
  m.xss = 0x100;
  m.lbr = {.depth = 32,
           .format = LbrFormat::time,
           .has_select = true,
           .call_stack = true,
           .from_base = msr::LBR_NHM_FROM_IP};
  m.pebs = {.format = 3, .counters = 0x1, .distribution = 0x1, .eventing_ip = true};
  m.core.retire_width = 3;
  m.core.l1d = {24 * kib, 6, 64, 3};
  m.core.l2 = {1 * mib, 16, 64, 17};
  m.core.l3 = {};
  return m;
}

/// PEBS on every counter, fixed ones included.
CpuModel goldmont_plus() {
  CpuModel m = goldmont();
  m.name = "goldmont-plus";
  m.title = "Goldmont Plus";
  m.model = 0x7A;
  m.stepping = 1;
  m.perf_capabilities = 0x33C7;
  m.anythread = false;
  m.lbr.format = LbrFormat::info_no_tsx;
  m.pebs.counters = 0xF | fixed(0x7);
  m.core.retire_width = 4;
  m.core.l2 = {4 * mib, 16, 64, 19};
  return m;
}

/// Adaptive PEBS on an Atom, also into a PT stream.
CpuModel tremont() {
  CpuModel m = goldmont_plus();
  m.name = "tremont";
  m.title = "Tremont";
  m.pfm_name = "tmt";
  m.model = 0x86;
  m.stepping = 5;
  m.perfmon_version = 5;
  m.perf_capabilities = 0x174C7;
  m.offcore_rsp = {0x800FF0FFFFFF9FFF, 0x000FF0FFFFFF9FFF};
  m.xcr0 = 0x3;
  m.pebs.format = 4;
  m.pebs.distribution = bit(0) | fixed(1);
  m.pebs.baseline = true;
  m.core.l1d = {32 * kib, 8, 64, 3};
  m.core.l2 = {4 * mib, 16, 64, 17};
  m.core.l3 = {4 * mib, 16, 64, 50};
  return m;
}

}  // namespace pmusim::presets

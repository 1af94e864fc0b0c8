#include "presets.h"

namespace pmusim::presets {

/// The first Atom: two counters of 40 bits. Leaf 0AH of the later steppings (Pineview) is the one given here.
CpuModel bonnell() {
  CpuModel m;
  m.name = "bonnell";
  m.title = "Bonnell";
  m.pfm_name = "atom";
  m.core_type = CoreType::atom;
  m.model = 0x1C;
  m.stepping = 10;
  m.perfmon_version = 3;
  m.gp_counters = 0x3;
  m.fixed_counters = 0x7;
  m.counter_width = 40;
  m.arch_events = 0x7F;
  m.perf_capabilities = 0x10C2;
  m.anythread = true;
  m.has_rdtscp = m.has_ibpb = false;
  m.xcr0 = 0;
  m.lbr = {.depth = 8, .format = LbrFormat::eip, .from_base = msr::LBR_CORE_FROM_IP};
  m.pebs = {.format = 0, .counters = 0x1};
  m.core.retire_width = 2;
  m.core.l1d = {24 * kib, 6, 64, 3};
  m.core.l2 = {512 * kib, 8, 64, 16};
  m.core.l3 = {};
  m.core.bus_hz = 133'333'333;
  return m;
}

CpuModel silvermont() {
  CpuModel m = bonnell();
  m.name = "silvermont";
  m.title = "Silvermont";
  m.pfm_name = "slm";
  m.model = 0x37;
  m.stepping = 8;
  m.perf_capabilities = 0x12C2;
  m.leaf_0a_edx_strays = bit(14);
  m.has_rdtscp = m.has_ibpb = true;
  m.offcore_rsp = {0x768005FFFF, 0x368005FFFF};
  m.lbr.has_select = m.lbr.nehalem_filters = true;
  m.pebs.format = 2;
  m.pebs.eventing_ip = true;
  m.core.l1d = {24 * kib, 6, 64, 3};
  m.core.l2 = {1 * mib, 16, 64, 14};
  m.core.bus_hz = 100'000'000;
  return m;
}

CpuModel knightslanding() {
  CpuModel m = silvermont();
  m.name = "knightslanding";
  m.title = "Knights Landing";
  m.pfm_name = "knl";
  m.model = 0x57;
  m.stepping = 1;
  m.leaf_0a_edx_strays = 0;
  m.perf_capabilities = 0x12C1;
  m.offcore_rsp = {0x799FFBB6E7, 0x399FFBFFE7};
  m.xcr0 = 0xE7;
  m.lbr = {.depth = 8, .format = LbrFormat::eip_flags, .has_select = true, .from_base = msr::LBR_NHM_FROM_IP};
  m.core.l1d = {32 * kib, 8, 64, 4};
  return m;
}

}  // namespace pmusim::presets

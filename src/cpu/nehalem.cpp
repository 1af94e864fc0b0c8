#include "presets.h"

namespace pmusim::presets {

/// Four counters per hardware thread, PEBS on all of them with load latency, 16 LBR records and a filter.
CpuModel nehalem() {
  CpuModel m;
  m.name = "nehalem";
  m.title = "Nehalem";
  m.pfm_name = "nhm";
  m.model = 0x1A;
  m.stepping = 5;
  m.perfmon_version = 3;
  m.gp_counters = 0xF;
  m.fixed_counters = 0x7;
  m.arch_events = 0x3F;  // branch mispredicts: erratum
  m.perf_capabilities = 0x11C3;
  m.anythread = true;
  m.offcore_rsp = {0xFFFF, 0};
  m.xcr0 = 0;
  m.lbr = {.depth = 16,
           .format = LbrFormat::eip_flags,
           .has_select = true,
           .nehalem_filters = true,
           .from_base = msr::LBR_NHM_FROM_IP};
  m.pebs = {.format = 1, .counters = 0xF, .load_latency = true, .data_source = DataSourceEncoding::nehalem};
  m.core.l1d = {32 * kib, 8, 64, 4};
  m.core.l2 = {256 * kib, 8, 64, 10};
  m.core.l3 = {8 * mib, 16, 64, 38};
  m.core.stlb_entries = 512;
  m.core.stlb_ways = 4;
  m.core.bus_hz = 133'333'333;
  return m;
}

CpuModel westmere() {
  CpuModel m = nehalem();
  m.name = "westmere";
  m.title = "Westmere";
  m.pfm_name = "wsm";
  m.model = 0x2C;
  m.stepping = 2;
  m.arch_events = 0x7B;  // reference cycles: not enumerated
  m.offcore_rsp = {0xFFFF, 0xFFFF};
  m.pebs.data_source = DataSourceEncoding::westmere;
  m.core.l3 = {12 * mib, 16, 64, 40};
  return m;
}

}  // namespace pmusim::presets

#include "presets.h"

namespace pmusim::presets {

/// Sapphire Rapids: Golden Cove with architectural LBR and all eight bytes of PERF_METRICS.
CpuModel sapphirerapids() {
  CpuModel m = icelake_server();
  m.name = "sapphirerapids";
  m.title = "Sapphire Rapids";
  m.pfm_name = "spr";
  m.model = 0x8F;
  m.stepping = 8;
  m.perf_capabilities = 0xF4FF;
  m.metrics_levels = 2;
  m.has_bus_lock_detect = true;
  m.reference_event_is_tsc = true;
  m.offcore_rsp = {0x3FFFFFFFFF, 0x3FFFFFFFFF};
  m.xcr0 = 0x602E7;
  m.xss = 0xDD00;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset, lbr_records);
  m.pebs.distribution = bit(0) | fixed(1);
  m.pebs.latency_split = true;
  m.pebs.data_source = DataSourceEncoding::golden_cove;
  m.core.retire_width = 6;
  m.core.l2 = {2 * mib, 16, 64, 15};
  m.core.l3 = {105 * mib, 15, 64, 73};
  m.core.dtlb_entries = 96;
  m.core.itlb_entries = 256;
  m.core.outstanding_misses = 16;
  m.core.reorder_buffer_uops = 512;
  return m;
}

CpuModel emeraldrapids() {
  CpuModel m = sapphirerapids();
  m.name = "emeraldrapids";
  m.title = "Emerald Rapids";
  m.model = 0xCF;
  m.stepping = 2;
  m.core.l3 = {160 * mib, 20, 64, 75};
  return m;
}

/// Golden Cove as the P core of Alder Lake: leaf 0AH and PERF_CAPABILITIES show what it shares with
/// Gracemont.
CpuModel goldencove() {
  CpuModel m = sapphirerapids();
  m.name = "goldencove";
  m.title = "Golden Cove (Alder Lake P core)";
  m.model = 0x97;
  m.stepping = 2;
  m.hybrid = true;
  m.native_model_id = 1;
  m.package_view = CommonView{.gp_counters = 0x3F, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0x74FF;
  m.rtm = m.hle = false;
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  m.core.l2 = {1280 * kib, 10, 64, 15};
  m.core.l3 = {30 * mib, 12, 64, 60};
  return m;
}

}  // namespace pmusim::presets

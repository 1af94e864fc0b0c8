#include "presets.h"

namespace pmusim::presets {

/// Six counters, architectural LBR, load and store latency on an Atom. As in Alder Lake-N, which has no P
/// core.
CpuModel gracemont() {
  CpuModel m = tremont();
  m.name = "gracemont";
  m.title = "Gracemont (Alder Lake-N)";
  m.pfm_name = "";
  m.model = 0xBE;
  m.stepping = 0;
  m.native_model_id = 1;
  m.gp_counters = 0x3F;
  m.perf_capabilities = 0x174FF;
  m.has_pperf = true;
  m.has_bus_lock_detect = true;
  m.reference_event_is_tsc = true;
  m.offcore_rsp = {0x3FFFFFFFFF, 0x3FFFFFFFFF};
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset | lbr_linear_ip, lbr_records);
  m.pebs.counters = 0x3F | fixed(0x7);
  m.pebs.load_latency = true;
  m.pebs.latency_split = true;
  m.pebs.data_source = DataSourceEncoding::gracemont;
  m.core.retire_width = 5;
  m.core.l2 = {2 * mib, 16, 64, 17};
  m.core.l3 = {6 * mib, 12, 64, 60};
  m.core.stlb_entries = 2048;
  m.core.stlb_ways = 4;
  m.core.reorder_buffer_uops = 256;
  return m;
}

/// Crestmont as in Sierra Forest: eight counters, leaf 23H. No dump seen; follows Meteor Lake's E core.
CpuModel sierraforest() {
  CpuModel m = gracemont();
  m.name = "sierraforest";
  m.title = "Sierra Forest (Crestmont)";
  m.model = 0xAF;
  m.stepping = 3;
  m.native_model_id = 2;
  m.gp_counters = 0xFF;
  m.perf_capabilities = 0x275FF;
  m.arch_perfmon_ext = true;
  m.offcore_rsp = {0x800FF3FFFFFFFFFF, 0x000FF3FFFFFFFFFF};
  m.snoop_rsp = ~u64{0};
  m.xss = 0xDD00;
  m.pebs.format = 5;
  m.pebs.counters = 0xFF | fixed(0x7);
  m.pebs.distribution = bit(0) | bit(1) | fixed(1);
  m.pebs.data_source = DataSourceEncoding::crestmont;
  m.core.retire_width = 6;
  m.core.l2 = {4 * mib, 16, 64, 17};
  m.core.l3 = {108 * mib, 12, 64, 80};
  return m;
}

/// The E core of Meteor Lake; leaf 0AH happens to describe it in full.
CpuModel crestmont() {
  CpuModel m = sierraforest();
  m.name = "crestmont";
  m.title = "Crestmont (Meteor Lake E core)";
  m.model = 0xAA;
  m.stepping = 4;
  m.hybrid = true;
  m.xss = 0xD900;
  m.core.l2 = {2 * mib, 16, 64, 17};
  m.core.l3 = {24 * mib, 12, 64, 75};
  return m;
}

}  // namespace pmusim::presets

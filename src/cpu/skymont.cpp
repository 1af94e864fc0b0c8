#include "presets.h"

namespace pmusim::presets {

/// Perfmon version 6, a gap in the fixed counters (top-down on 4 to 6, no SLOTS), auto counter reload: the E
/// core of Lunar Lake.
CpuModel skymont() {
  CpuModel m = crestmont();
  m.name = "skymont";
  m.title = "Skymont (Lunar Lake E core)";
  m.model = 0xBD;
  m.stepping = 1;
  m.native_model_id = 3;
  m.perfmon_version = 6;
  m.fixed_counters = 0x77;
  m.arch_events = 0x1F7F;
  m.package_view = version_6_hybrid_view;
  m.arch_events_length = version_6_events;
  m.perf_capabilities = 0x276FF;
  m.perfmon_ext_ebx = 3;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset | lbr_linear_ip, lbr_records_and_counters);
  m.pebs.format = 6;
  m.pebs.counters = 0xFF | fixed(0x77);
  m.acr = {.reloadable = 0xFC | fixed(0x3), .cause = 0xFC | fixed(0x3)};
  m.core.retire_width = 8;
  m.core.l2 = {4 * mib, 16, 64, 19};
  m.core.l3 = {8 * mib, 16, 64, 60};
  m.core.reorder_buffer_uops = 416;
  return m;
}

/// Skymont in Arrow Lake-H, whose leaf 0AH says version 5 for the sake of its low-power Crestmonts.
CpuModel arrowlake_h_atom() {
  CpuModel m = skymont();
  m.name = "arrowlake-h-atom";
  m.title = "Skymont (Arrow Lake-H E core)";
  m.model = 0xC5;
  m.perfmon_version = 5;
  m.package_view = CommonView{.gp_counters = 0xFF, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0x275FF;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset | lbr_linear_ip, lbr_records);
  m.pebs.format = 5;
  m.acr = {};
  return m;
}

/// Architectural PEBS beside ACR: the E core of Panther Lake.
CpuModel darkmont() {
  CpuModel m = skymont();
  m.name = "darkmont";
  m.title = "Darkmont (Panther Lake E core)";
  m.model = 0xCC;
  m.native_model_id = 4;
  m.perf_capabilities = 0x23FFF;
  m.xss = 0x1D900;
  m.pebs.format = PebsFeatures::architectural;
  m.pebs.baseline = false;
  m.pebs.arch_capabilities = 0x60060338;
  return m;
}

/// Darkmont alone, so that leaf 0AH describes it; no dump seen.
CpuModel clearwaterforest() {
  CpuModel m = darkmont();
  m.name = "clearwaterforest";
  m.title = "Clearwater Forest (Darkmont)";
  m.model = 0xDD;
  m.stepping = 0;
  m.hybrid = false;
  m.package_view.reset();
  m.xss = 0x1DD00;
  m.core.l3 = {288 * mib, 18, 64, 90};
  return m;
}

/// The E core of Nova Lake; what no dump has shown yet follows Darkmont.
CpuModel arcticwolf() {
  CpuModel m = darkmont();
  m.name = "arcticwolf";
  m.title = "Arctic Wolf (Nova Lake E core)";
  m.family = 18;
  m.model = 0x01;
  m.native_model_id = 5;
  m.perfmon_ext_ebx = 7;
  m.offcore_rsp = {};
  m.omr = 0xC0FFFFFFFFFFFFFF;
  m.pebs.data_source = DataSourceEncoding::arctic_wolf;
  m.core.l3 = {36 * mib, 12, 64, 60};
  return m;
}

}  // namespace pmusim::presets

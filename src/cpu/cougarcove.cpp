#include "presets.h"

namespace pmusim::presets {

/// Architectural PEBS: the P core of Panther Lake.
CpuModel cougarcove() {
  CpuModel m = lioncove();
  m.name = "cougarcove";
  m.title = "Cougar Cove (Panther Lake P core)";
  m.model = 0xCC;
  m.native_model_id = 4;
  m.perf_capabilities = 0x2BFFF;
  m.xss = 0x1D900;
  m.pebs.format = PebsFeatures::architectural;
  m.pebs.baseline = false;
  m.pebs.arch_capabilities = 0x60060378;
  return m;
}

/// Panther Cove, no hybrid: ACR on P cores, off-module response registers. Counter sets are inferred.
CpuModel diamondrapids() {
  CpuModel m = cougarcove();
  m.name = "diamondrapids";
  m.title = "Diamond Rapids (Panther Cove)";
  m.family = 19;
  m.model = 0x01;
  m.stepping = 0;
  m.hybrid = false;
  m.package_view.reset();
  m.gp_counters = 0xFF;
  m.perf_capabilities = 0xABFFF;
  m.rtm = m.hle = true;
  m.perfmon_ext_ebx = 7;
  m.offcore_rsp = {};
  m.omr = 0x40FFFFFF0000FFFF;
  m.xcr0 = 0xE02E7;
  m.xss = 0x1DD00;
  m.pebs.counters = 0xFF | fixed(0xF);
  m.pebs.data_source = DataSourceEncoding::panther_cove;
  m.acr = {.reloadable = 0xFC | fixed(0x3), .cause = 0xFC | fixed(0x3)};
  m.core.l3 = {480 * mib, 16, 64, 80};
  return m;
}

/// The P core of Nova Lake; what no dump has shown yet follows Panther Cove.
CpuModel coyotecove() {
  CpuModel m = diamondrapids();
  m.name = "coyotecove";
  m.title = "Coyote Cove (Nova Lake P core)";
  m.family = 18;
  m.model = 0x01;
  m.native_model_id = 5;
  m.hybrid = true;
  m.package_view = version_6_hybrid_view;
  m.perf_capabilities = 0x2BFFF;
  m.rtm = m.hle = false;
  m.xcr0 = 0x802E7;
  m.xss = 0x1D900;
  m.core.l3 = {36 * mib, 12, 64, 60};
  return m;
}

}  // namespace pmusim::presets

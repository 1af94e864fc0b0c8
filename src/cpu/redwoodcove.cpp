#include "presets.h"

namespace pmusim::presets {

/// Redwood Cove of Granite Rapids: leaf 23H, retire latency in PEBS records.
CpuModel graniterapids() {
  CpuModel m = sapphirerapids();
  m.name = "graniterapids";
  m.title = "Granite Rapids";
  m.model = 0xAD;
  m.stepping = 1;
  m.native_model_id = 2;
  m.arch_events = 0xDFF;
  m.perf_capabilities = 0x2F5FF;
  m.arch_perfmon_ext = true;
  m.xss = 0x1DD00;
  m.pebs.format = 5;
  m.core.l3 = {480 * mib, 16, 64, 80};
  return m;
}

/// Redwood Cove as the P core of Meteor Lake.
CpuModel redwoodcove() {
  CpuModel m = graniterapids();
  m.name = "redwoodcove";
  m.title = "Redwood Cove (Meteor Lake P core)";
  m.model = 0xAA;
  m.stepping = 4;
  m.hybrid = true;
  m.package_view = CommonView{.gp_counters = 0xFF, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0x275FF;
  m.rtm = m.hle = false;
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  m.core.l3 = {24 * mib, 12, 64, 75};
  return m;
}

}  // namespace pmusim::presets

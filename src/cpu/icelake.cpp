#include "presets.h"

namespace pmusim::presets {

/// Sunny Cove: eight counters per logical processor, TOPDOWN.SLOTS in fixed counter 3, PERF_METRICS, adaptive
/// PEBS on every counter.
CpuModel icelake() {
  CpuModel m = skylake();
  m.name = "icelake";
  m.title = "Ice Lake";
  m.pfm_name = "icl";
  m.model = 0x7E;
  m.stepping = 5;
  m.perfmon_version = 5;
  m.gp_counters = 0xFF;
  m.fixed_counters = 0xF;
  m.arch_events = 0xFF;
  m.arch_events_length = 8;
  m.perf_capabilities = 0xF4C5;
  m.anythread = false;
  m.rtm = m.hle = m.has_tsx_force_abort = false;
  m.metrics_levels = 1;
  m.offcore_rsp = {0x3FFFFFBFFF, 0x3FFFFFBFFF};
  m.xcr0 = 0x2E7;
  m.pebs.format = 4;
  m.pebs.counters = 0xFF | fixed(0xF);
  m.pebs.distribution = fixed(1);
  m.pebs.baseline = true;
  m.core.retire_width = 5;
  m.core.l1d = {48 * kib, 12, 64, 5};
  m.core.l2 = {512 * kib, 8, 64, 13};
  m.core.stlb_entries = 2048;
  m.core.stlb_ways = 16;
  m.core.outstanding_misses = 12;
  return m;
}

CpuModel icelake_server() {
  CpuModel m = icelake();
  m.name = "icelake-server";
  m.title = "Ice Lake server";
  m.pfm_name = "icx";
  m.model = 0x6A;
  m.stepping = 6;
  m.rtm = m.hle = true;
  m.core.l2 = {1280 * kib, 20, 64, 14};
  m.core.l3 = {48 * mib, 12, 64, 70};
  return m;
}

CpuModel tigerlake() {
  CpuModel m = icelake();
  m.name = "tigerlake";
  m.title = "Tiger Lake";
  m.model = 0x8C;
  m.stepping = 1;
  m.has_bus_lock_detect = true;
  m.xss = 0x3900;
  m.core.l2 = {1280 * kib, 20, 64, 14};
  m.core.l3 = {12 * mib, 12, 64, 45};
  return m;
}

CpuModel rocketlake() {
  CpuModel m = icelake();
  m.name = "rocketlake";
  m.title = "Rocket Lake";
  m.model = 0xA7;
  m.stepping = 1;
  m.core.l3 = {16 * mib, 16, 64, 46};
  return m;
}

}  // namespace pmusim::presets

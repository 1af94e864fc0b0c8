#include "presets.h"

namespace pmusim::presets {

/// Full-width counter writes, off-core filters for two events, precise stores on counter 3. Eight counters
/// per core, which hyper-threading (on here) splits into four and four.
CpuModel sandybridge() {
  CpuModel m = nehalem();
  m.name = "sandybridge";
  m.title = "Sandy Bridge";
  m.pfm_name = "snb";
  m.model = 0x2A;
  m.stepping = 7;
  m.arch_events = 0x7F;
  m.perf_capabilities = 0x31C3;
  m.offcore_rsp = {0x3F807F8FFF, 0x3F807F8FFF};
  m.xcr0 = 0x7;
  m.lbr.nehalem_filters = false;
  m.pebs.precise_store = true;
  m.pebs.distribution = bit(1);
  m.pebs.data_source = DataSourceEncoding::sandy_bridge;
  m.core.l2 = {256 * kib, 8, 64, 12};
  m.core.l3 = {8 * mib, 16, 64, 30};
  m.core.bus_hz = 100'000'000;
  return m;
}

CpuModel ivybridge() {
  CpuModel m = sandybridge();
  m.name = "ivybridge";
  m.title = "Ivy Bridge";
  m.pfm_name = "ivb";
  m.model = 0x3A;
  m.stepping = 9;
  return m;
}

}  // namespace pmusim::presets

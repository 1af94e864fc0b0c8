#include "presets.h"

namespace pmusim::presets {

/// Streamlined freeze, 32 LBR records with cycle counts, PEBS records with a time stamp, front-end events.
CpuModel skylake() {
  CpuModel m = broadwell();
  m.name = "skylake";
  m.title = "Skylake";
  m.pfm_name = "skl";
  m.model = 0x5E;
  m.stepping = 3;
  m.perfmon_version = 4;
  m.perf_capabilities = 0x33C5;
  m.freeze = FreezeStyle::streamlined;
  m.has_tsx_force_abort = m.has_pperf = true;
  m.has_xsaves = true;
  m.xcr0 = 0x1F;
  m.xss = 0x100;
  m.lbr.depth = 32;
  m.lbr.format = LbrFormat::info;
  m.pebs.format = 3;
  m.pebs.frontend = true;
  m.pebs.data_source = DataSourceEncoding::skylake;
  m.core.l2 = {256 * kib, 4, 64, 12};
  m.core.l3 = {8 * mib, 16, 64, 42};
  m.core.stlb_ways = 12;
  return m;
}

CpuModel skylake_x() {
  CpuModel m = skylake();
  m.name = "skylake-x";
  m.title = "Skylake-X, Skylake-SP";
  m.pfm_name = "skx";
  m.model = 0x55;
  m.stepping = 4;
  m.xcr0 = 0xFF;
  m.core.l2 = {1 * mib, 16, 64, 14};
  m.core.l3 = {18 * 1408 * kib, 11, 64, 68};
  return m;
}

CpuModel cascadelake() {
  CpuModel m = skylake_x();
  m.name = "cascadelake";
  m.title = "Cascade Lake";
  m.pfm_name = "clx";
  m.stepping = 7;
  return m;
}

CpuModel cannonlake() {
  CpuModel m = skylake();
  m.name = "cannonlake";
  m.title = "Cannon Lake";
  m.model = 0x66;
  m.xcr0 = 0xFF;
  m.rtm = m.hle = m.has_tsx_force_abort = false;
  return m;
}

}  // namespace pmusim::presets

#include "presets.h"

namespace pmusim::presets {

/// The first architectural PMU: two counters, no global registers, no fixed counters, no LBR that drivers
/// use.
CpuModel yonah() {
  CpuModel m;
  m.name = "yonah";
  m.title = "Yonah (Core Solo, Core Duo)";
  m.pfm_name = "ix86arch";
  m.model = 0x0E;
  m.stepping = 8;
  m.perfmon_version = 1;
  m.gp_counters = 0x3;
  m.counter_width = 40;
  m.arch_events = 0x7F;
  m.has_pdcm = m.has_rdtscp = m.has_ibpb = false;
  m.xcr0 = 0;
  m.core.retire_width = 3;
  m.core.l2 = {2 * mib, 8, 64, 14};
  m.core.l3 = {};
  m.core.bus_hz = 166'666'667;
  return m;
}

CpuModel core2() {
  CpuModel m = yonah();
  m.name = "core2";
  m.title = "Core 2 (Merom)";
  m.pfm_name = "core";
  m.model = 0x0F;
  m.stepping = 11;
  m.perfmon_version = 2;
  m.fixed_counters = 0x7;
  m.perf_capabilities = 0x10C2;
  m.has_pdcm = true;
  m.lbr = {.depth = 4, .format = LbrFormat::eip, .from_base = msr::LBR_CORE_FROM_IP};
  m.pebs = {.format = 0, .counters = 0x1};
  m.core.retire_width = 4;
  m.core.l2 = {4 * mib, 16, 64, 14};
  m.core.bus_hz = 266'666'667;
  return m;
}

CpuModel penryn() {
  CpuModel m = core2();
  m.name = "penryn";
  m.title = "Core 2 (Penryn)";
  m.model = 0x17;
  m.stepping = 10;
  m.xcr0 = 0x3;
  m.core.l2 = {6 * mib, 24, 64, 15};
  return m;
}

}  // namespace pmusim::presets

#include "presets.h"

namespace pmusim::presets {

/// TSX and its counter filters, an LBR call stack, records with the IP of the sampled instruction itself.
CpuModel haswell() {
  CpuModel m = sandybridge();
  m.name = "haswell";
  m.title = "Haswell";
  m.pfm_name = "hsw";
  m.model = 0x3C;
  m.stepping = 3;
  m.perf_capabilities = 0x32C4;
  m.rtm = m.hle = true;
  m.has_tsc_adjust = true;
  m.offcore_rsp = {0x3FFFFF8FFF, 0x3FFFFF8FFF};
  m.lbr.format = LbrFormat::eip_flags_tsx;
  m.lbr.call_stack = true;
  m.lbr.double_abort = true;
  m.pebs.format = 2;
  m.pebs.precise_store = false;
  m.pebs.eventing_ip = true;
  m.core.l3 = {8 * mib, 16, 64, 34};
  m.core.stlb_entries = 1024;
  m.core.stlb_ways = 8;
  return m;
}

CpuModel broadwell() {
  CpuModel m = haswell();
  m.name = "broadwell";
  m.title = "Broadwell";
  m.pfm_name = "bdw";
  m.model = 0x3D;
  m.stepping = 4;
  m.lbr.double_abort = false;
  m.core.stlb_entries = 1536;
  m.core.stlb_ways = 6;
  return m;
}

}  // namespace pmusim::presets

// SPDX-License-Identifier: MIT
#include "cores.h"
#include "haswell_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
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

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr Product products[] = {{6, 0x3C}, {6, 0x3F}, {6, 0x45}, {6, 0x46}};
constexpr Preset product_presets[] = {presets::haswell};

}  // namespace

constinit const CoreFacts haswell{
    .core = Microarchitecture::haswell,
    .products = products,
    .presets = product_presets,
    .events = haswell_events,
    .cache_events = haswell_cache,
    .named_events = haswell_memory,
    .off_core = sandy_bridge_off_core,
};

}  // namespace cores
}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "haswell_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"

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
  m.core.costs = &costs::haswell();
  return m;
}

}  // namespace presets

namespace cores::haswell {

using namespace event_rows;

constexpr auto table = join(haswell_events, shared_rows<Microarchitecture::haswell>());
constexpr Product products[] = {{6, 0x3C}, {6, 0x3F}, {6, 0x45}, {6, 0x46}};
constexpr Preset product_presets[] = {presets::haswell};

constinit const CoreFacts facts{
    .core = Microarchitecture::haswell,
    .products = products,
    .presets = product_presets,
    .events = table,
    .cache_events = haswell_cache,
    .named_events = haswell_names,
    .off_core = haswell_off_core,
};

}  // namespace cores::haswell
}  // namespace pmusim

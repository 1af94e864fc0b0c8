// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
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
  m.core.costs = &costs::lion_cove();
  return m;
}

}  // namespace presets

namespace cores::panther_cove {

using namespace event_rows;

constexpr Product products[] = {{19, 0x01}};
constexpr Preset product_presets[] = {presets::diamondrapids};

constinit const CoreFacts facts{
    .core = Microarchitecture::panther_cove,
    .products = products,
    .presets = product_presets,
    .events = panther_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = panther_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = omr_layout(0x2A),
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::panther_cove
}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
namespace {
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
  m.core.costs = &costs::lion_cove();
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::coyote_cove {

using namespace event_rows;

constexpr Product products[] = {{18, 0x01}, {18, 0x03}};
constexpr ProductName names[] = {{"novalake", "coyotecove"}};
constexpr Preset product_presets[] = {presets::coyotecove};

constinit const CoreFacts facts{
    .core = Microarchitecture::coyote_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = panther_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = coyote_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = omr_layout(0x2A),
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::coyote_cove
}  // namespace pmusim

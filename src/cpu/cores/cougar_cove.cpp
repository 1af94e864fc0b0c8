// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
/// Architectural PEBS: the P core of Panther Lake.
CpuModel cougarcove() {
  CpuModel m = lioncove();
  m.name = "cougarcove";
  m.title = "Cougar Cove (Panther Lake P core)";
  m.model = 0xCC;
  m.native_model_id = 4;
  m.perf_capabilities = 0x2BFFF;
  m.xss = 0x1D900;
  m.pebs.format = PebsFeatures::architectural;
  m.pebs.baseline = false;
  m.pebs.arch_capabilities = 0x60060378;
  m.core.costs = &costs::lion_cove();
  return m;
}

}  // namespace presets

namespace cores::cougar_cove {

using namespace event_rows;

constexpr Product products[] = {{6, 0xCC}, {6, 0xE5}, {6, 0xD5}};
constexpr ProductName names[] = {{"pantherlake", "cougarcove"}};
constexpr Preset product_presets[] = {presets::cougarcove};

constinit const CoreFacts facts{
    .core = Microarchitecture::cougar_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = cougar_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = cougar_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = lion_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::cougar_cove
}  // namespace pmusim

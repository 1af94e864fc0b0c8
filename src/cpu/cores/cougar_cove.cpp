// SPDX-License-Identifier: MIT
#include "cores.h"
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
  return m;
}

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr Product products[] = {{6, 0xCC}, {6, 0xE5}, {6, 0xD5}};
constexpr ProductName names[] = {{"pantherlake", "cougarcove"}};
constexpr Preset product_presets[] = {presets::cougarcove};

}  // namespace

constinit const CoreFacts cougar_cove{
    .core = Microarchitecture::cougar_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = lion_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores
}  // namespace pmusim

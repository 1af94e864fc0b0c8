// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
/// Architectural PEBS beside ACR: the E core of Panther Lake.
CpuModel darkmont() {
  CpuModel m = skymont();
  m.name = "darkmont";
  m.title = "Darkmont (Panther Lake E core)";
  m.model = 0xCC;
  m.native_model_id = 4;
  m.perf_capabilities = 0x23FFF;
  m.xss = 0x1D900;
  m.pebs.format = PebsFeatures::architectural;
  m.pebs.baseline = false;
  m.pebs.arch_capabilities = 0x60060338;
  m.core.costs = &costs::skymont();
  return m;
}

namespace {
/// Darkmont alone, so that leaf 0AH describes it; no dump seen.
CpuModel clearwaterforest() {
  CpuModel m = darkmont();
  m.name = "clearwaterforest";
  m.title = "Clearwater Forest (Darkmont)";
  m.model = 0xDD;
  m.stepping = 0;
  m.hybrid = false;
  m.package_view.reset();
  m.xss = 0x1DD00;
  m.core.costs = &costs::skymont();
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::darkmont {

using namespace event_rows;

constexpr auto table = join(since_darkmont, tremont_off_core, gracemont_bandwidth);
constexpr Product products[] = {{6, 0xDD}, {6, 0xCC}, {6, 0xE5}, {6, 0xD5}};
constexpr ProductName names[] = {{"pantherlake", "darkmont"}};
constexpr Preset product_presets[] = {presets::darkmont, presets::clearwaterforest};

constexpr u32 servers[] = {0xDD};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x01B7, .models = servers, .values = demand_last_level(any_response, 0x33F'BFC0'0000)},
    {.event = 0x01B7, .values = demand_last_level(any_response, 0x13F'BFC0'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::darkmont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = tremont_cache,
    .last_level = last_level_rows,
    .named_events = skymont_names,
    .off_core = atom_off_core,
};

}  // namespace cores::darkmont
}  // namespace pmusim

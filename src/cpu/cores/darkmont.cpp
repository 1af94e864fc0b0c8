// SPDX-License-Identifier: MIT
#include "cores.h"
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
  m.core.l3 = {288 * mib, 18, 64, 90};
  return m;
}

}  // namespace

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr auto table = join(since_darkmont, tremont_off_core);
constexpr Product products[] = {{6, 0xDD}, {6, 0xCC}, {6, 0xE5}, {6, 0xD5}};
constexpr ProductName names[] = {{"pantherlake", "darkmont"}};
constexpr Preset product_presets[] = {presets::darkmont, presets::clearwaterforest};

}  // namespace

constinit const CoreFacts darkmont{
    .core = Microarchitecture::darkmont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = tremont_cache,
    .named_events = skymont_names,
    .off_core = atom_off_core,
};

}  // namespace cores
}  // namespace pmusim

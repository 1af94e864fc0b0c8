// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"
#include "skylake_family.h"

namespace pmusim {
namespace presets {
namespace {
CpuModel skylake_x() {
  CpuModel m = skylake();
  m.name = "skylake-x";
  m.title = "Skylake-X, Skylake-SP";
  m.pfm_name = "skx";
  m.model = 0x55;
  m.stepping = 4;
  m.xcr0 = 0xFF;
  m.core.costs = &costs::skylake_x();
  return m;
}

CpuModel cascadelake() {
  CpuModel m = skylake_x();
  m.name = "cascadelake";
  m.title = "Cascade Lake";
  m.pfm_name = "clx";
  m.stepping = 7;
  m.core.costs = &costs::cascadelake();
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::skylake_x {

using namespace event_rows;

constexpr auto table =
    join(skylake_events, remote_loads, skylake_x_fp_arithmetic, shared_rows<Microarchitecture::skylake_x>());
constexpr Product products[] = {{6, 0x55}};
constexpr ProductName names[] = {{"cooperlake", "cascadelake"}};
constexpr Preset product_presets[] = {presets::skylake_x, presets::cascadelake};

constinit const CoreFacts facts{
    .core = Microarchitecture::skylake_x,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .cache_events = skylake_cache,
    .named_events = haswell_names,
    .off_core = skylake_x_off_core_layout,
};

}  // namespace cores::skylake_x
}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "cores.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
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
  m.core.l2 = {1 * mib, 16, 64, 14};
  m.core.l3 = {18 * 1408 * kib, 11, 64, 68};
  return m;
}

CpuModel cascadelake() {
  CpuModel m = skylake_x();
  m.name = "cascadelake";
  m.title = "Cascade Lake";
  m.pfm_name = "clx";
  m.stepping = 7;
  return m;
}

}  // namespace

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr auto table = join(skylake_events, skylake_x_fp_arithmetic);
constexpr Product products[] = {{6, 0x55}};
constexpr ProductName names[] = {{"cooperlake", "cascadelake"}};
constexpr Preset product_presets[] = {presets::skylake_x, presets::cascadelake};

}  // namespace

constinit const CoreFacts skylake_x{
    .core = Microarchitecture::skylake_x,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .cache_events = skylake_cache,
    .named_events = haswell_memory,
    .off_core = sandy_bridge_off_core,
};

}  // namespace cores
}  // namespace pmusim

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
/// Streamlined freeze, 32 LBR records with cycle counts, PEBS records with a time stamp, front-end events.
CpuModel skylake() {
  CpuModel m = broadwell();
  m.name = "skylake";
  m.title = "Skylake";
  m.pfm_name = "skl";
  m.model = 0x5E;
  m.stepping = 3;
  m.perfmon_version = 4;
  m.perf_capabilities = 0x33C5;
  m.freeze = FreezeStyle::streamlined;
  m.has_tsx_force_abort = m.has_pperf = true;
  m.has_xsaves = true;
  m.xcr0 = 0x1F;
  m.xss = 0x100;
  m.lbr.depth = 32;
  m.lbr.format = LbrFormat::info;
  m.pebs.format = 3;
  m.pebs.frontend = true;
  m.pebs.data_source = DataSourceEncoding::skylake;
  m.core.costs = &costs::skylake();
  return m;
}

namespace {
CpuModel cannonlake() {
  CpuModel m = skylake();
  m.name = "cannonlake";
  m.title = "Cannon Lake";
  m.model = 0x66;
  m.xcr0 = 0xFF;
  m.rtm = m.hle = m.has_tsx_force_abort = false;
  m.core.costs = &costs::cannonlake();
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::skylake {

using namespace event_rows;

constexpr auto table = join(skylake_events, shared_rows<Microarchitecture::skylake>());
constexpr Product products[] = {{6, 0x4E}, {6, 0x5E}, {6, 0x8E}, {6, 0x9E}, {6, 0xA5}, {6, 0xA6}, {6, 0x66}};
constexpr ProductName names[] = {
    {"kabylake", "skylake"}, {"coffeelake", "skylake"}, {"cometlake", "skylake"}, {"whiskeylake", "skylake"}};
constexpr Preset product_presets[] = {presets::skylake, presets::cannonlake};

constinit const CoreFacts facts{
    .core = Microarchitecture::skylake,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .cache_events = skylake_cache,
    .named_events = haswell_names,
    .off_core = skylake_off_core_layout,
};

}  // namespace cores::skylake
}  // namespace pmusim

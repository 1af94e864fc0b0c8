// SPDX-License-Identifier: MIT
#include "cores.h"
#include "haswell_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
CpuModel broadwell() {
  CpuModel m = haswell();
  m.name = "broadwell";
  m.title = "Broadwell";
  m.pfm_name = "bdw";
  m.model = 0x3D;
  m.stepping = 4;
  m.lbr.double_abort = false;
  m.core.stlb_entries = 1536;
  m.core.stlb_ways = 6;
  return m;
}

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr auto table = join(haswell_events, mispredicted_returns, broadwell_fp_arithmetic);
constexpr Product products[] = {{6, 0x3D}, {6, 0x47}, {6, 0x4F}, {6, 0x56}};
constexpr Preset product_presets[] = {presets::broadwell};

}  // namespace

constinit const CoreFacts broadwell{
    .core = Microarchitecture::broadwell,
    .products = products,
    .presets = product_presets,
    .events = table,
    .cache_events = haswell_cache,
    .named_events = haswell_memory,
    .off_core = sandy_bridge_off_core,
};

}  // namespace cores
}  // namespace pmusim

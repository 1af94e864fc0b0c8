// SPDX-License-Identifier: MIT
#include "cores.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
namespace {
/// Redwood Cove of Granite Rapids: leaf 23H, retire latency in PEBS records.
CpuModel graniterapids() {
  CpuModel m = sapphirerapids();
  m.name = "graniterapids";
  m.title = "Granite Rapids";
  m.model = 0xAD;
  m.stepping = 1;
  m.native_model_id = 2;
  m.arch_events = 0xDFF;
  m.perf_capabilities = 0x2F5FF;
  m.arch_perfmon_ext = true;
  m.xss = 0x1DD00;
  m.pebs.format = 5;
  m.core.l3 = {480 * mib, 16, 64, 80};
  return m;
}

}  // namespace

/// Redwood Cove as the P core of Meteor Lake.
CpuModel redwoodcove() {
  CpuModel m = graniterapids();
  m.name = "redwoodcove";
  m.title = "Redwood Cove (Meteor Lake P core)";
  m.model = 0xAA;
  m.stepping = 4;
  m.hybrid = true;
  m.package_view = CommonView{.gp_counters = 0xFF, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0x275FF;
  m.rtm = m.hle = false;
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  m.core.l3 = {24 * mib, 12, 64, 75};
  return m;
}

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr auto table = join(before_lion_cove, front_end_retired(0x03));
constexpr Product products[] = {{6, 0xAC}, {6, 0xAA}, {6, 0xB5}, {6, 0xAD}, {6, 0xAE}};
constexpr ProductName names[] = {{"meteorlake", "redwoodcove"}};
constexpr Preset product_presets[] = {presets::redwoodcove, presets::graniterapids};

}  // namespace

constinit const CoreFacts redwood_cove{
    .core = Microarchitecture::redwood_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .named_events = golden_cove_memory_names,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores
}  // namespace pmusim

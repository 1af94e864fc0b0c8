// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"

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
  m.core.costs = &costs::redwood_cove();
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
  m.core.costs = &costs::redwood_cove();
  return m;
}

}  // namespace presets

namespace cores::redwood_cove {

using namespace event_rows;

constexpr auto table =
    join(before_lion_cove, front_end_retired(0x03), shared_rows<Microarchitecture::redwood_cove>());
constexpr Product products[] = {{6, 0xAC}, {6, 0xAA}, {6, 0xB5}, {6, 0xAD}, {6, 0xAE}};
constexpr ProductName names[] = {{"meteorlake", "redwoodcove"}};
constexpr Preset product_presets[] = {presets::redwoodcove, presets::graniterapids};

constexpr u32 servers[] = {0xAD, 0xAE};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x012A, .models = servers, .values = {0x10001, 0x3F'BFC0'0001, 0x3F'3FFC'0002, 0x3F'3FC0'0002}},
    {.event = 0x012A, .edition = CacheTable::Edition::corrected, .values = client_last_level}};

constinit const CoreFacts facts{
    .core = Microarchitecture::redwood_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = golden_cove_memory_names,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::redwood_cove
}  // namespace pmusim

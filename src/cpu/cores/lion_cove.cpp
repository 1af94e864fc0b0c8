// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
/// Ten counters, perfmon version 6, records of format 6, branch counters in the LBR: the P core of Lunar
/// Lake.
CpuModel lioncove() {
  CpuModel m = redwoodcove();
  m.name = "lioncove";
  m.title = "Lion Cove (Lunar Lake P core)";
  m.pfm_name = "";
  m.model = 0xBD;
  m.stepping = 1;
  m.native_model_id = 3;
  m.perfmon_version = 6;
  m.gp_counters = 0x3FF;
  m.arch_events = 0x1DFF;
  m.package_view = version_6_hybrid_view;
  m.arch_events_length = version_6_events;
  m.perf_capabilities = 0x2F6FF;
  m.perfmon_ext_ebx = 3;
  m.offcore_rsp = {0xFFFFFFFFFFF, 0xFFFFFFFFFFF};
  m.lbr = architectural_lbr(lbr_deep_cstate_reset, lbr_records_and_counters);
  m.pebs.format = 6;
  m.pebs.counters = 0x3FF | fixed(0xF);
  m.pebs.distribution = bit(0) | bit(1) | fixed(1);
  m.pebs.data_source = DataSourceEncoding::lion_cove;
  m.core.costs = &costs::lion_cove();
  return m;
}

namespace {
/// Arrow Lake-H carries low-power Crestmonts, so that its Lion Cove reports version 5 and writes format 5.
CpuModel arrowlake_h() {
  CpuModel m = lioncove();
  m.name = "arrowlake-h";
  m.title = "Lion Cove (Arrow Lake-H P core)";
  m.model = 0xC5;
  m.perfmon_version = 5;
  m.package_view = CommonView{.gp_counters = 0xFF, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0x2F5FF;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset, lbr_records);
  m.pebs.format = 5;
  m.core.costs = &costs::lion_cove();
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::lion_cove {

using namespace event_rows;

constexpr Product products[] = {{6, 0xBD}, {6, 0xC5}, {6, 0xC6}};
constexpr ProductName names[] = {
    {"arrowlake", "lioncove"}, {"arrowlake-s", "lioncove"}, {"lunarlake", "lioncove"}};
constexpr Preset product_presets[] = {presets::lioncove, presets::arrowlake_h};

constexpr u32 lunar_lake[] = {0xBD};
constexpr LastLevelEvents last_level_rows[] = {{.event = 0x012A,
                                                .models = lunar_lake,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = lion_cove_last_level},
                                               {.event = 0x012A,
                                                .edition = CacheTable::Edition::corrected,
                                                .values = demand_last_level(any_response, 0xFE7'F800'0000)}};

constinit const CoreFacts facts{
    .core = Microarchitecture::lion_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = lion_cove_events,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = golden_cove_memory_names,
    .off_core = lion_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::lion_cove
}  // namespace pmusim

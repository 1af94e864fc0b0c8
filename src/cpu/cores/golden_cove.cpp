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
/// Sapphire Rapids: Golden Cove with architectural LBR and all eight bytes of PERF_METRICS.
CpuModel sapphirerapids() {
  CpuModel m = icelake_server();
  m.name = "sapphirerapids";
  m.title = "Sapphire Rapids";
  m.pfm_name = "spr";
  m.model = 0x8F;
  m.stepping = 8;
  m.perf_capabilities = 0xF4FF;
  m.metrics_levels = 2;
  m.has_bus_lock_detect = true;
  m.reference_event_is_tsc = true;
  m.offcore_rsp = {0x3FFFFFFFFF, 0x3FFFFFFFFF};
  m.xcr0 = 0x602E7;
  m.xss = 0xDD00;
  m.lbr = architectural_lbr(lbr_deep_cstate_reset, lbr_records);
  m.pebs.distribution = bit(0) | fixed(1);
  m.pebs.latency_split = true;
  m.pebs.data_source = DataSourceEncoding::golden_cove;
  m.core.costs = &costs::golden_cove();
  return m;
}

namespace {
CpuModel emeraldrapids() {
  CpuModel m = sapphirerapids();
  m.name = "emeraldrapids";
  m.title = "Emerald Rapids";
  m.model = 0xCF;
  m.stepping = 2;
  m.core.costs = &costs::golden_cove();
  return m;
}

/// Golden Cove as the P core of Alder Lake: leaf 0AH shows what it shares with Gracemont. So does
/// PERF_CAPABILITIES, but for metrics: the erratum that clears its bit 15 is of Raptor Lake and Meteor Lake
/// (RPL018), and Linux 7.3 takes it as it reads here.
CpuModel goldencove() {
  CpuModel m = sapphirerapids();
  m.name = "goldencove";
  m.title = "Golden Cove (Alder Lake P core)";
  m.model = 0x97;
  m.stepping = 2;
  m.hybrid = true;
  m.native_model_id = 1;
  m.package_view = CommonView{.gp_counters = 0x3F, .fixed_counters = 0x7, .arch_events = 0x7F};
  m.arch_events_length = 7;
  m.perf_capabilities = 0xF4FF;
  m.rtm = m.hle = false;
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  m.core.costs = &costs::golden_cove();
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::golden_cove {

using namespace event_rows;

constexpr auto table =
    join(before_lion_cove, front_end_retired(0x01), shared_rows<Microarchitecture::golden_cove>());
constexpr auto named = join(golden_cove_memory_names, std::array{NamedEncoding{"mem-loads-aux", 0x8203}});
constexpr Product products[] = {{6, 0x97}, {6, 0x9A}, {6, 0xB7}, {6, 0xBA},
                                {6, 0xBF}, {6, 0x8F}, {6, 0xCF}, {6, 0xD7}};
constexpr ProductName names[] = {{"alderlake", "goldencove"}, {"raptorlake", "goldencove"}};
constexpr Preset product_presets[] = {presets::goldencove, presets::sapphirerapids, presets::emeraldrapids};

constexpr u32 servers[] = {0x8F, 0xCF};
constexpr LastLevelEvents last_level_rows[] = {
    {.event = 0x012A, .models = servers, .values = {0x10001, 0x3F'BFC0'0001, 0x3F'3FFC'0002, 0x3F'3FC0'0002}},
    {.event = 0x012A, .edition = CacheTable::Edition::corrected, .values = client_last_level}};

constinit const CoreFacts facts{
    .core = Microarchitecture::golden_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .last_level = last_level_rows,
    .named_events = named,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
};

}  // namespace cores::golden_cove
}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "cores.h"
#include "golden_cove_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

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
  m.core.retire_width = 6;
  m.core.l2 = {2 * mib, 16, 64, 15};
  m.core.l3 = {105 * mib, 15, 64, 73};
  m.core.dtlb_entries = 96;
  m.core.itlb_entries = 256;
  m.core.outstanding_misses = 16;
  m.core.reorder_buffer_uops = 512;
  return m;
}

namespace {
CpuModel emeraldrapids() {
  CpuModel m = sapphirerapids();
  m.name = "emeraldrapids";
  m.title = "Emerald Rapids";
  m.model = 0xCF;
  m.stepping = 2;
  m.core.l3 = {160 * mib, 20, 64, 75};
  return m;
}

/// Golden Cove as the P core of Alder Lake: leaf 0AH and PERF_CAPABILITIES show what it shares with
/// Gracemont.
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
  m.perf_capabilities = 0x74FF;
  m.rtm = m.hle = false;
  m.xcr0 = 0x207;
  m.xss = 0xD900;
  m.core.l2 = {1280 * kib, 10, 64, 15};
  m.core.l3 = {30 * mib, 12, 64, 60};
  return m;
}

}  // namespace

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr auto table = join(before_lion_cove, front_end_retired(0x01));
constexpr auto named = join(golden_cove_memory_names, std::array{NamedEncoding{"mem-loads-aux", 0x8203}});
constexpr Product products[] = {{6, 0x97}, {6, 0x9A}, {6, 0xB7}, {6, 0xBA},
                                {6, 0xBF}, {6, 0x8F}, {6, 0xCF}, {6, 0xD7}};
constexpr ProductName names[] = {{"alderlake", "goldencove"}, {"raptorlake", "goldencove"}};
constexpr Preset product_presets[] = {presets::goldencove, presets::sapphirerapids, presets::emeraldrapids};

}  // namespace

constinit const CoreFacts golden_cove{
    .core = Microarchitecture::golden_cove,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = golden_cove_cache,
    .named_events = named,
    .off_core = golden_cove_off_core_layout,
    .fixed_codes = p_core_fixed_codes,
    .load_latency_companion = 0x8203,
};

}  // namespace cores
}  // namespace pmusim

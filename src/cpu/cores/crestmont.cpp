// SPDX-License-Identifier: MIT
#include "cores.h"
#include "gracemont_family.h"
#include "named_events.h"
#include "off_core_layouts.h"
#include "presets.h"

namespace pmusim {
namespace presets {
namespace {
/// Crestmont as in Sierra Forest: eight counters, leaf 23H. No dump seen; follows Meteor Lake's E core.
CpuModel sierraforest() {
  CpuModel m = gracemont();
  m.name = "sierraforest";
  m.title = "Sierra Forest (Crestmont)";
  m.model = 0xAF;
  m.stepping = 3;
  m.native_model_id = 2;
  m.gp_counters = 0xFF;
  m.perf_capabilities = 0x275FF;
  m.arch_perfmon_ext = true;
  m.offcore_rsp = {0x800FF3FFFFFFFFFF, 0x000FF3FFFFFFFFFF};
  m.snoop_rsp = ~u64{0};
  m.xss = 0xDD00;
  m.pebs.format = 5;
  m.pebs.counters = 0xFF | fixed(0x7);
  m.pebs.distribution = bit(0) | bit(1) | fixed(1);
  m.pebs.data_source = DataSourceEncoding::crestmont;
  m.core.retire_width = 6;
  m.core.l2 = {4 * mib, 16, 64, 17};
  m.core.l3 = {108 * mib, 12, 64, 80};
  return m;
}

}  // namespace

/// The E core of Meteor Lake; leaf 0AH happens to describe it in full.
CpuModel crestmont() {
  CpuModel m = sierraforest();
  m.name = "crestmont";
  m.title = "Crestmont (Meteor Lake E core)";
  m.model = 0xAA;
  m.stepping = 4;
  m.hybrid = true;
  m.xss = 0xD900;
  m.core.l2 = {2 * mib, 16, 64, 17};
  m.core.l3 = {24 * mib, 12, 64, 75};
  return m;
}

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr std::array crestmont_retiring{
    row("TOPDOWN_RETIRING.ALL", 0x72, 0x00, sum(Q::uops)),
};

constexpr auto table = join(gracemont_common, goldmont_and_gracemont_branches, crestmont_load_sources,
                            tremont_slots, gracemont_slots, crestmont_retiring, tremont_memory_stalls,
                            crestmont_front_end, architectural_lbr_inserts, tremont_off_core);

constexpr auto named =
    join(gracemont_memory_names,
         std::array{NamedEncoding{"topdown-fe-bound", 0x0071}, NamedEncoding{"topdown-be-bound", 0x0074},
                    NamedEncoding{"topdown-bad-spec", 0x0073}, NamedEncoding{"topdown-retiring", 0x0072}});
constexpr Product products[] = {{6, 0xAF}, {6, 0xB6}, {6, 0xAC}, {6, 0xAA}, {6, 0xB5}};
constexpr ProductName names[] = {{"meteorlake", "crestmont"}, {"grandridge", "sierraforest"}};
constexpr Preset product_presets[] = {presets::crestmont, presets::sierraforest};

}  // namespace

constinit const CoreFacts crestmont{
    .core = Microarchitecture::crestmont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
    .generic = {.reference_cycles = GenericEncodings::tsc_cycles},
    .cache_events = tremont_cache,
    .named_events = named,
    .off_core = atom_off_core,
};

}  // namespace cores
}  // namespace pmusim

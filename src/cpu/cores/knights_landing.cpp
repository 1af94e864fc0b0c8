// SPDX-License-Identifier: MIT
#include "cores.h"
#include "cpu/costs/costs.h"
#include "early_atom_family.h"
#include "off_core_layouts.h"
#include "presets.h"
#include "shared/shared.h"

namespace pmusim {
namespace presets {
namespace {
CpuModel knightslanding() {
  CpuModel m = silvermont();
  m.name = "knightslanding";
  m.title = "Knights Landing";
  m.pfm_name = "knl";
  m.model = 0x57;
  m.stepping = 1;
  m.leaf_0a_edx_strays = 0;
  m.perf_capabilities = 0x12C1;
  m.offcore_rsp = {0x799FFBB6E7, 0x399FFBFFE7};
  m.xcr0 = 0xE7;
  m.lbr = {.depth = 8, .format = LbrFormat::eip_flags, .has_select = true, .from_base = msr::LBR_NHM_FROM_IP};
  m.core.costs = &costs::knights_landing();
  return m;
}

}  // namespace

}  // namespace presets

namespace cores::knights_landing {

using namespace event_rows;

constexpr std::array knights_landing_own{
    row("CPU_CLK_UNHALTED.THREAD_P", 0x3C, 0x00, sum(Q::cycles)),
    row("MEM_UOPS_RETIRED.L1_MISS_LOADS", 0x04, 0x01, on(load_l1_miss)),
    row("MEM_UOPS_RETIRED.L2_HIT_LOADS", 0x04, 0x02, on(load_l2_hit)),
    row("MEM_UOPS_RETIRED.L2_MISS_LOADS", 0x04, 0x04, on(load_l2_miss)),
    row("MEM_UOPS_RETIRED.DTLB_MISS_LOADS", 0x04, 0x08, on(load_dtlb_miss)),
    row("MEM_UOPS_RETIRED.ALL_LOADS", 0x04, 0x40, on(load)),
    row("MEM_UOPS_RETIRED.ALL_STORES", 0x04, 0x80, on(store)),
    row("RECYCLEQ.LD_BLOCK_ST_FORWARD", 0x03, 0x01, on(store_forward_blocked)),
    row("RECYCLEQ.ST_SPLITS", 0x03, 0x04, on(split_store)),
    row("RECYCLEQ.LD_SPLITS", 0x03, 0x08, on(split_load)),
    row("RECYCLEQ.LOCK", 0x03, 0x10, on(locked)),
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
    row("UOPS_RETIRED.ALL", 0xC2, 0x10, sum(Q::uops)),
};

constexpr auto table = join(architectural_rows, reference_cycles, early_atom, goldmont_branches,
                            knights_landing_own, shared_rows<Microarchitecture::knights_landing>());
constexpr Product products[] = {{6, 0x57}, {6, 0x85}};
constexpr Preset product_presets[] = {presets::knightslanding};

constinit const CoreFacts facts{
    .core = Microarchitecture::knights_landing,
    .type = CoreType::atom,
    .products = products,
    .presets = product_presets,
    .events = table,
    .off_core = knights_landing_off_core_layout,
};

}  // namespace cores::knights_landing
}  // namespace pmusim

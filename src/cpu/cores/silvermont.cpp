// SPDX-License-Identifier: MIT
#include "cores.h"
#include "early_atom_family.h"
#include "presets.h"

namespace pmusim {
namespace presets {
CpuModel silvermont() {
  CpuModel m = bonnell();
  m.name = "silvermont";
  m.title = "Silvermont";
  m.pfm_name = "slm";
  m.model = 0x37;
  m.stepping = 8;
  m.perf_capabilities = 0x12C2;
  m.leaf_0a_edx_strays = bit(14);
  m.has_rdtscp = m.has_ibpb = true;
  m.offcore_rsp = {0x768005FFFF, 0x368005FFFF};
  m.lbr.has_select = m.lbr.nehalem_filters = true;
  m.pebs.format = 2;
  m.pebs.eventing_ip = true;
  m.core.l1d = {24 * kib, 6, 64, 3};
  m.core.l2 = {1 * mib, 16, 64, 14};
  m.core.bus_hz = 100'000'000;
  return m;
}

}  // namespace presets

namespace cores {
namespace {

using namespace event_rows;

constexpr std::array silvermont_own{
    row("CPU_CLK_UNHALTED.CORE_P", 0x3C, 0x00, sum(Q::cycles)),
    row("CPU_CLK_UNHALTED.REF", 0x3C, 0x01, sum(Q::reference_cycles)),
    row("BR_INST_RETIRED.ALL_TAKEN_BRANCHES", 0xC4, 0x80, on_any({near_taken, far_branch})),
    row("MACHINE_CLEARS.MEMORY_ORDERING", 0xC3, 0x02, on(memory_ordering_clear)),
    row("MACHINE_CLEARS.ALL", 0xC3, 0x08, on(machine_clear)),
    row("PAGE_WALKS.CYCLES", 0x05, 0x03, sum(Q::page_walk_cycles)),
    row("UOPS_RETIRED.ANY", 0xC2, 0x10, sum(Q::uops)),
};

constexpr auto table = join(architectural_rows, early_atom, goldmont_branches, silvermont_own);
constexpr Product products[] = {{6, 0x37}, {6, 0x4A}, {6, 0x4D}, {6, 0x5A}, {6, 0x5D}, {6, 0x4C}};
constexpr ProductName names[] = {{"airmont", "silvermont"}};
constexpr Preset product_presets[] = {presets::silvermont};

}  // namespace

constinit const CoreFacts silvermont{
    .core = Microarchitecture::silvermont,
    .type = CoreType::atom,
    .products = products,
    .names = names,
    .presets = product_presets,
    .events = table,
};

}  // namespace cores
}  // namespace pmusim

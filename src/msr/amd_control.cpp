// SPDX-License-Identifier: MIT
// What else AMD's PMU is steered by: DebugCtl (APM vol. 2, 13.1.1) and EFER.
#include "counter_rows.h"
#include "msr/control.h"
#include "pmusim/arch/msr.h"

namespace pmusim {
namespace {

namespace dc = msr::debugctl;

constexpr Field amd_debugctl_fields[] = {
    {dc::LBR, "LBR: records fused branches at the branch itself"},
    {dc::BTF, "BTF"},
    {dc::BUS_LOCK_DETECT, "bus lock trap",
     [](const CpuModel& m, unsigned) { return all_if(m.has_bus_lock_detect); }},
    {dc::FREEZE_LBRS_ON_PMI, "freeze the LBR stack on PMI", amd_freezes},
    {dc::FREEZE_PERFMON_ON_PMI, "freeze counters on PMI", amd_freezes},
};
constexpr u64 debugctl_reads_zero = bits(63, 7);

constexpr Field efer_fields[] = {
    {bit(0), "SCE"},   {bit(8), "LME"},    {bit(10), "LMA"},   {bit(11), "NXE"},
    {bit(12), "SVME"}, {bit(13), "LMSLE"}, {bit(14), "FFXSR"}, {bit(15), "TCE"},
};

}  // namespace

Rows<ControlRegisters> ControlRegisters::amd_registers() {
  using C = ControlRegisters;
  static constexpr Row<C> rows[] = {
      {.address = msr::DEBUGCTL,
       .name = "DebugCtl",
       .fields = amd_debugctl_fields,
       .ignored = [](const CpuModel&, unsigned) { return debugctl_reads_zero; },
       .read = read_word<&C::debugctl_>,
       .write = write_word<&C::debugctl_>},
      {.address = msr::amd::EFER,
       .name = "EFER",
       .fields = efer_fields,
       .read = read_word<&C::efer_>,
       .write = write_word<&C::efer_>},
  };
  return rows;
}

}  // namespace pmusim

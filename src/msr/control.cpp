// SPDX-License-Identifier: MIT
// The switches: what the processor as a whole is set to do, and what it reports that it can.
#include "msr/control.h"

#include "arch/misc_enable.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim {

ControlRegisters::ControlRegisters(const CpuModel& model)
    : model_(&model), misc_enable_(model.misc_enable), apic_base_(apic_base_after_reset(model)) {}

RowFamilies<ControlRegisters> ControlRegisters::registers(Vendor vendor) {
  if (vendor == Vendor::amd)
    return {clock_registers(), processor_registers(), apic_registers(), amd_registers()};
  return {clock_registers(), switch_registers(), processor_registers(), apic_registers(), filter_registers()};
}

namespace {

// IA32_DEBUGCTL (SDM vol. 3, debug; vol. 4).
namespace d = msr::debugctl;
u64 has_pebs(const CpuModel& m, unsigned) { return all_if(pebs::is_known(m.pebs.format)); }  // DS-CPL
u64 freezes(const CpuModel& m, unsigned) { return all_if(m.has_pdcm && m.perfmon_version > 1); }
constexpr Field debugctl_fields[] = {
    {d::LBR, "LBR"},
    {d::BTF, "BTF"},
    {d::BUS_LOCK_DETECT, "bus lock detect",
     [](const CpuModel& m, unsigned) { return all_if(m.has_bus_lock_detect); }},
    {d::TR, "TR"},
    {d::BTS, "BTS"},
    {d::BTINT, "BTINT"},
    {d::BTS_OFF_OS, "BTS_OFF_OS", has_pebs},
    {d::BTS_OFF_USR, "BTS_OFF_USR", has_pebs},
    {d::FREEZE_LBRS_ON_PMI, "freeze LBRs on PMI", freezes},
    {d::FREEZE_PERFMON_ON_PMI, "freeze counters on PMI", freezes},
    {d::UNCORE_PMI_EN, "uncore PMI",
     [](const CpuModel& m, unsigned) { return all_if(m.perfmon_version >= 3); }},
    {d::FREEZE_WHILE_SMM, "freeze while SMM",
     [](const CpuModel& m, unsigned) { return all_if(m.has_capability(msr::perf_cap::SMM_FREEZE)); }},
    {d::RTM_DEBUG, "RTM_DEBUG", [](const CpuModel& m, unsigned) { return all_if(m.rtm); }},
};

// IA32_MISC_ENABLE: software cannot change what tells what the part can do.
constexpr Field misc_enable_fields[] = {
    {bit(0), "fast strings"},
    {bit(3), "TCC"},
    {msr::misc_enable::PERFMON_AVAILABLE, "perfmon available (RO)"},
    {msr::misc_enable::BTS_UNAVAILABLE, "BTS unavailable (RO)"},
    {msr::misc_enable::PEBS_UNAVAILABLE, "PEBS unavailable (RO)"},
    {bit(16), "SpeedStep"},
    {bit(18), "MONITOR"},
    {bit(22), "CPUID limit"},
    {bit(23), "xTPR disable"},
    {bit(34), "XD disable"},
    {bit(38), "turbo disable"},
};

// IA32_PERF_CAPABILITIES.
constexpr Field capability_fields[] = {
    {msr::perf_cap::LBR_FMT, "LBR format"},
    {msr::perf_cap::PEBS_TRAP, "PEBS trap"},
    {msr::perf_cap::PEBS_ARCH_REGS, "PEBS registers"},
    {msr::perf_cap::PEBS_REC_FMT, "PEBS format"},
    {msr::perf_cap::SMM_FREEZE, "SMM freeze"},
    {msr::perf_cap::FW_WRITE, "full-width writes"},
    {msr::perf_cap::PEBS_BASELINE, "PEBS baseline"},
    {msr::perf_cap::PERF_METRICS, "PERF_METRICS"},
    {msr::perf_cap::PEBS_OUTPUT_PT_AVAIL, "PEBS to PT"},
    {msr::perf_cap::PEBS_TIMING_INFO, "PEBS timing"},
    {msr::perf_cap::RDPMC_METRICS_CLEAR, "RDPMC metrics clear"},
};

constexpr Field tsx_force_abort_fields[] = {{bit(0), "every RTM transaction aborts, PMC3 is usable"}};

}  // namespace

Rows<ControlRegisters> ControlRegisters::switch_registers() {
  using C = ControlRegisters;
  static constexpr Row<C> rows[] = {
      // With architectural LBR the enable moved to IA32_LBR_CTL: bit 0 is accepted and does not stick.
      {.address = msr::DEBUGCTL,
       .name = "IA32_DEBUGCTL",
       .fields = debugctl_fields,
       .read = read_word<&C::debugctl_>,
       .write =
           [](C& c, At, u64 value) {
             c.debugctl_ = c.model_->has_arch_lbr() ? value & ~msr::debugctl::LBR : value;
             return Fault::none;
           }},
      // Flipping one of the "unavailable" bits faults; the perfmon bit ignores writes.
      {.address = msr::MISC_ENABLE,
       .name = "IA32_MISC_ENABLE",
       .reset = [](const CpuModel& m, unsigned) { return m.misc_enable; },
       .fields = misc_enable_fields,
       .read = read_word<&C::misc_enable_>,
       .write =
           [](C& c, At, u64 value) {
             using namespace msr::misc_enable;
             if (((value ^ c.misc_enable_) & (BTS_UNAVAILABLE | PEBS_UNAVAILABLE)) != 0) return Fault::gp;
             c.misc_enable_ = (value & ~PERFMON_AVAILABLE) | (c.misc_enable_ & PERFMON_AVAILABLE);
             return Fault::none;
           },
       .takes = "bits 11 and 12 say what the part lacks, and cannot change"},
      {.address = msr::PERF_CAPABILITIES,
       .name = "IA32_PERF_CAPABILITIES",
       .exists = [](const CpuModel& m, unsigned) { return m.has_pdcm; },
       .reset = [](const CpuModel& m, unsigned) { return m.perf_capabilities; },
       .fields = capability_fields,
       .read = [](const C& c, At) { return c.model_->perf_capabilities; }},
      {.address = msr::TSX_FORCE_ABORT,
       .name = "MSR_TSX_FORCE_ABORT",
       .exists = [](const CpuModel& m, unsigned) { return m.has_tsx_force_abort; },
       .fields = tsx_force_abort_fields,
       .read = read_word<&C::tsx_force_abort_>,
       .write = write_word<&C::tsx_force_abort_>},
  };
  return rows;
}

}  // namespace pmusim

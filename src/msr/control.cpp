#include "pmusim/msr/control.h"

#include "pmusim/cpu/clocks.h"

namespace pmusim {

ControlRegisters::ControlRegisters(const CpuModel& model) : model_(&model), misc_enable_(model.misc_enable) {}

u64 ControlRegisters::tsc_at(u64 cycle) const { return tsc_clock(model_->core).ticks(cycle) + tsc_offset_; }

namespace {

constexpr u64 all_bits = ~u64{0};

// MISC_ENABLE bits that tell what the part can do: software cannot change them.
constexpr u64 perfmon_available = bit(7), bts_unavailable = bit(11), pebs_unavailable = bit(12);
// The switches beside them: fast strings, TCC, SpeedStep, MONITOR, CPUID limit, xTPR, execute disable, turbo.
constexpr u64 misc_enable_switches =
    bit(0) | bit(3) | bit(16) | bit(18) | bit(22) | bit(23) | bit(34) | bit(38);

u64 any_value(const CpuModel&, unsigned) { return all_bits; }
u64 lowest_bit(const CpuModel&, unsigned) { return 1; }
u64 low_32_bits(const CpuModel&, unsigned) { return low_bits(32); }

bool has_tsc_adjust(const CpuModel& m, unsigned) { return m.has_tsc_adjust; }
bool has_rdtscp(const CpuModel& m, unsigned) { return m.has_rdtscp; }
bool has_pperf(const CpuModel& m, unsigned) { return m.has_pperf; }
bool has_tsx_force_abort(const CpuModel& m, unsigned) { return m.has_tsx_force_abort; }
bool has_pdcm(const CpuModel& m, unsigned) { return m.has_pdcm; }
bool has_x2apic(const CpuModel& m, unsigned) { return m.has_x2apic; }
bool has_xsaves(const CpuModel& m, unsigned) { return m.has_xsaves; }
bool has_offcore(const CpuModel& m, unsigned n) { return m.offcore_rsp[n] != 0; }
bool has_omr(const CpuModel& m, unsigned) { return m.omr != 0; }
bool has_snoop(const CpuModel& m, unsigned) { return m.snoop_rsp != 0; }

u64 offcore_bits(const CpuModel& m, unsigned n) { return m.offcore_rsp[n]; }
u64 omr_bits(const CpuModel& m, unsigned) { return m.omr; }
u64 snoop_bits(const CpuModel& m, unsigned) { return m.snoop_rsp; }
u64 xss_bits(const CpuModel& m, unsigned) { return m.xss; }

u64 debugctl_bits(const CpuModel& m, unsigned) {
  using namespace msr::debugctl;
  u64 legal = LBR | BTF | TR | BTS | BTINT;
  if (m.pebs.format != PebsFeatures::none) legal |= BTS_OFF_OS | BTS_OFF_USR;  // CPUID DS-CPL
  if (m.has_bus_lock_detect) legal |= BUS_LOCK_DETECT;
  if (m.has_pdcm && m.perfmon_version > 1) legal |= FREEZE_LBRS_ON_PMI | FREEZE_PERFMON_ON_PMI;
  if (m.perfmon_version >= 3) legal |= UNCORE_PMI_EN;
  if (m.has_capability(msr::perf_cap::SMM_FREEZE)) legal |= FREEZE_WHILE_SMM;
  if (m.rtm) legal |= RTM_DEBUG;
  return legal;
}

u64 misc_enable_bits(const CpuModel&, unsigned) {
  return misc_enable_switches | perfmon_available | bts_unavailable | pebs_unavailable;
}
u64 misc_enable_reset(const CpuModel& m, unsigned) { return m.misc_enable; }
u64 capabilities_reset(const CpuModel& m, unsigned) { return m.perf_capabilities; }

u64 lvtpc_bits(const CpuModel&, unsigned) {
  using namespace msr::lvtpc;
  return VECTOR | DELIVERY_MODE | DELIVERY_STATUS | MASKED;
}
u64 lvtpc_reset(const CpuModel&, unsigned) { return msr::lvtpc::MASKED; }

}  // namespace

/// What the registers do to ControlRegisters; `i` is the number within the row.
struct ControlAccess {
  using C = ControlRegisters;

  static u64 tsc(const C& c, unsigned) { return c.tsc(); }
  static Fault write_tsc(C& c, unsigned, u64 value) {
    const u64 moved = value - c.tsc();
    c.tsc_offset_ += moved;
    if (c.model_->has_tsc_adjust) c.tsc_adjust_ += moved;
    return Fault::none;
  }
  static u64 tsc_adjust(const C& c, unsigned) { return c.tsc_adjust_; }
  static Fault write_tsc_adjust(C& c, unsigned, u64 value) {
    c.tsc_offset_ += value - c.tsc_adjust_;
    c.tsc_adjust_ = value;
    return Fault::none;
  }
  static u64 mperf(const C& c, unsigned) {
    const Clock clock = tsc_clock(c.model_->core);
    return c.mperf_.value + clock.ticks(c.now_) - clock.ticks(c.mperf_.cycle);
  }
  static u64 aperf(const C& c, unsigned) { return c.aperf_.value + c.now_ - c.aperf_.cycle; }
  static Fault write_mperf(C& c, unsigned, u64 value) {
    c.mperf_ = {c.now_, value};
    return Fault::none;
  }
  static Fault write_aperf(C& c, unsigned, u64 value) {
    c.aperf_ = {c.now_, value};
    return Fault::none;
  }
  static u64 pperf(const C& c, unsigned) { return c.now_; }
  static u64 tsx_force_abort(const C& c, unsigned) { return c.tsx_force_abort_; }
  static Fault write_tsx_force_abort(C& c, unsigned, u64 value) {
    c.tsx_force_abort_ = value;
    return Fault::none;
  }
  static u64 misc_enable(const C& c, unsigned) { return c.misc_enable_; }
  static Fault write_misc_enable(C& c, unsigned, u64 value) {
    if (((value ^ c.misc_enable_) & (bts_unavailable | pebs_unavailable)) != 0) return Fault::gp;
    c.misc_enable_ = (value & ~perfmon_available) | (c.misc_enable_ & perfmon_available);
    return Fault::none;
  }
  static u64 offcore(const C& c, unsigned n) { return c.offcore_[n]; }
  static Fault write_offcore(C& c, unsigned n, u64 value) {
    c.offcore_[n] = value;
    return Fault::none;
  }
  static u64 omr(const C& c, unsigned n) { return c.omr_[n]; }
  static Fault write_omr(C& c, unsigned n, u64 value) {
    c.omr_[n] = value;
    return Fault::none;
  }
  static u64 snoop(const C& c, unsigned n) { return c.snoop_[n]; }
  static Fault write_snoop(C& c, unsigned n, u64 value) {
    c.snoop_[n] = value;
    return Fault::none;
  }
  static u64 debugctl(const C& c, unsigned) { return c.debugctl_; }
  static Fault write_debugctl(C& c, unsigned, u64 value) {
    // With architectural LBR the enable moved to IA32_LBR_CTL and this bit does nothing.
    c.debugctl_ = c.model_->has_arch_lbr() ? value & ~msr::debugctl::LBR : value;
    return Fault::none;
  }
  static u64 capabilities(const C& c, unsigned) { return c.model_->perf_capabilities; }
  static u64 lvtpc(const C& c, unsigned) { return c.lvtpc_; }
  static Fault write_lvtpc(C& c, unsigned, u64 value) {
    c.lvtpc_ = value & ~msr::lvtpc::DELIVERY_STATUS;
    return Fault::none;
  }
  static u64 xss(const C& c, unsigned) { return c.xss_; }
  static Fault write_xss(C& c, unsigned, u64 value) {
    c.xss_ = value;
    return Fault::none;
  }
  static u64 tsc_aux(const C& c, unsigned) { return c.tsc_aux_; }
  static Fault write_tsc_aux(C& c, unsigned, u64 value) {
    c.tsc_aux_ = static_cast<u32>(value);
    return Fault::none;
  }

  template <auto function>
  static constexpr auto read = &read_as<ControlRegisters, function>;
  template <auto function>
  static constexpr auto write = &write_as<ControlRegisters, function>;
  static std::span<const RegisterSpec> rows();
};

std::span<const RegisterSpec> ControlAccess::rows() {
  static constexpr Unit control = Unit::control;
  static constexpr RegisterSpec rows[] = {
      // Runs at a constant rate. A write moves TSC_ADJUST by as much.
      {.address = msr::TSC,
       .name = "IA32_TIME_STAMP_COUNTER",
       .owner = control,
       .writable = any_value,
       .read = read<tsc>,
       .write = write<write_tsc>,
       .bits = "63:0 TSC ticks"},
      {.address = msr::TSC_ADJUST,
       .name = "IA32_TSC_ADJUST",
       .owner = control,
       .exists = has_tsc_adjust,
       .writable = any_value,
       .read = read<tsc_adjust>,
       .write = write<write_tsc_adjust>,
       .bits = "63:0 what software added to the TSC"},
      {.address = msr::MPERF,
       .name = "IA32_MPERF",
       .owner = control,
       .writable = any_value,
       .read = read<mperf>,
       .write = write<write_mperf>,
       .bits = "63:0 TSC ticks while not halted"},
      {.address = msr::APERF,
       .name = "IA32_APERF",
       .owner = control,
       .writable = any_value,
       .read = read<aperf>,
       .write = write<write_aperf>,
       .bits = "63:0 core cycles while not halted"},
      {.address = msr::TSX_FORCE_ABORT,
       .name = "MSR_TSX_FORCE_ABORT",
       .owner = control,
       .exists = has_tsx_force_abort,
       .writable = lowest_bit,
       .read = read<tsx_force_abort>,
       .write = write<write_tsx_force_abort>,
       .bits = "0 every RTM transaction aborts, PMC3 is usable"},
      {.address = msr::MISC_ENABLE,
       .name = "IA32_MISC_ENABLE",
       .owner = control,
       .writable = misc_enable_bits,
       .reset = misc_enable_reset,
       .read = read<misc_enable>,
       .write = write<write_misc_enable>,
       .bits = "0 fast strings, 3 TCC, 7 perfmon available (RO), 11 BTS unavailable (RO), 12 PEBS "
               "unavailable (RO), "
               "16 SpeedStep, 18 MONITOR, 22 CPUID limit, 23 xTPR disable, 34 XD disable, 38 turbo disable"},
      {.address = msr::OFFCORE_RSP_0,
       .count = 2,
       .name = "MSR_OFFCORE_RSP_{}",
       .owner = control,
       .exists = has_offcore,
       .writable = offcore_bits,
       .read = read<offcore>,
       .write = write<write_offcore>,
       .bits = "request and response filter of the off-core response event"},
      {.address = msr::DEBUGCTL,
       .name = "IA32_DEBUGCTL",
       .owner = control,
       .writable = debugctl_bits,
       .read = read<debugctl>,
       .write = write<write_debugctl>,
       .bits = "0 LBR, 1 BTF, 2 bus lock detect, 6 TR, 7 BTS, 8 BTINT, 9 BTS_OFF_OS, 10 BTS_OFF_USR, 11 "
               "freeze LBRs "
               "on PMI, "
               "12 freeze counters on PMI, 13 uncore PMI, 14 freeze while SMM, 15 RTM_DEBUG"},
      {.address = msr::PERF_CAPABILITIES,
       .name = "IA32_PERF_CAPABILITIES",
       .owner = control,
       .exists = has_pdcm,
       .reset = capabilities_reset,
       .read = read<capabilities>,
       .bits =
           "5:0 LBR format, 6 PEBS trap, 7 PEBS registers, 11:8 PEBS format, 12 SMM freeze, 13 full-width "
           "writes, "
           "14 PEBS baseline, 15 PERF_METRICS, 16 PEBS to PT, 17 PEBS timing, 19 RDPMC metrics clear"},
      {.address = msr::OMR_0,
       .count = 4,
       .name = "MSR_OMR_{}",
       .owner = control,
       .exists = has_omr,
       .writable = omr_bits,
       .read = read<omr>,
       .write = write<write_omr>,
       .bits = "filter of the off-module response event"},
      {.address = msr::PPERF,
       .name = "MSR_PPERF",
       .owner = control,
       .exists = has_pperf,
       .read = read<pperf>,
       .bits = "63:0 productive core cycles"},
      {.address = msr::X2APIC_LVTPC,
       .name = "IA32_X2APIC_LVT_PMI",
       .owner = control,
       .exists = has_x2apic,
       .writable = lvtpc_bits,
       .reset = lvtpc_reset,
       .read = read<lvtpc>,
       .write = write<write_lvtpc>,
       .bits = "7:0 vector, 10:8 delivery mode (4 NMI), 12 delivery status (RO), 16 mask"},
      {.address = msr::XSS,
       .name = "IA32_XSS",
       .owner = control,
       .exists = has_xsaves,
       .writable = xss_bits,
       .read = read<xss>,
       .write = write<write_xss>,
       .bits = "supervisor XSAVE components: 11 CET_U, 12 CET_S, 15 LBR"},
      {.address = msr::SNOOP_RSP_0,
       .count = 2,
       .name = "MSR_SNOOP_RSP_{}",
       .owner = control,
       .exists = has_snoop,
       .writable = snoop_bits,
       .read = read<snoop>,
       .write = write<write_snoop>,
       .bits = "filter of the snoop response event"},
      {.address = msr::TSC_AUX,
       .name = "IA32_TSC_AUX",
       .owner = control,
       .exists = has_rdtscp,
       .writable = low_32_bits,
       .read = read<tsc_aux>,
       .write = write<write_tsc_aux>,
       .bits = "31:0 what RDTSCP and RDPID return"},
  };
  return rows;
}

std::span<const RegisterSpec> ControlRegisters::registers() { return ControlAccess::rows(); }

}  // namespace pmusim

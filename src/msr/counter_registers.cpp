#include "pmusim/msr/counters.h"

namespace pmusim {
namespace {

constexpr u64 all_bits = ~u64{0};

// --- which exist -------------------------------------------------------------------------------------------
bool has_bit(u32 bitmap, unsigned n) { return n < 32 && (bitmap >> n & 1) != 0; }
bool gp_exists(const CpuModel& m, unsigned n) { return has_bit(m.gp_counters, n); }
bool fixed_exists(const CpuModel& m, unsigned n) {
  return m.perfmon_version >= 2 && has_bit(m.fixed_counters, n);
}
bool gp_full_width(const CpuModel& m, unsigned n) {
  return gp_exists(m, n) && m.has_capability(msr::perf_cap::FW_WRITE);
}
bool gp_v6(const CpuModel& m, unsigned n) { return m.perfmon_version >= 6 && gp_exists(m, n); }
bool fixed_v6(const CpuModel& m, unsigned n) { return m.perfmon_version >= 6 && fixed_exists(m, n); }
bool version_2(const CpuModel& m, unsigned) { return m.perfmon_version >= 2; }
bool version_4(const CpuModel& m, unsigned) { return m.perfmon_version >= 4; }
bool any_fixed(const CpuModel& m, unsigned) { return m.perfmon_version >= 2 && m.fixed_counters != 0; }
bool metrics_exist(const CpuModel& m, unsigned) { return m.metrics_levels != 0; }

bool in_pebs_record_set(const CpuModel& m, unsigned counter) {
  return m.has_arch_pebs() && (m.pebs.counters & bit(counter)) != 0;
}
bool cfg_c_exists(const CpuModel& m, unsigned counter) {
  return m.perfmon_version >= 6 && (in_pebs_record_set(m, counter) || (m.acr.reloadable & bit(counter)) != 0);
}
bool gp_cfg_c_exists(const CpuModel& m, unsigned n) { return gp_exists(m, n) && cfg_c_exists(m, n); }
bool fixed_cfg_c_exists(const CpuModel& m, unsigned n) {
  return fixed_exists(m, n) && cfg_c_exists(m, first_fixed + n);
}

// --- which bits software may set ---------------------------------------------------------------------------
u64 any_value(const CpuModel&, unsigned) { return all_bits; }
u64 counter_bits(const CpuModel& m, unsigned) { return low_bits(m.counter_width); }

u64 event_select_bits(const CpuModel& m, unsigned n) {
  using namespace msr::evtsel;
  u64 legal = EVENT | UMASK | USR | OS | EDGE | INT | EN | INV | CMASK;
  if (m.perfmon_version <= 5) legal |= PC;
  if (m.anythread) legal |= ANY;
  if (m.rtm || m.hle) legal |= IN_TX | (n == 2 ? IN_TXCP : 0);
  if (m.has_capability(msr::perf_cap::PEBS_BASELINE) && !m.has_arch_pebs()) legal |= ADAPTIVE;
  if (n < 4 && has_bit(m.lbr.cpuid_1c_ecx, 16 + n)) legal |= BR_CNTR;
  if (has_bit(m.perfmon_ext_ebx, 0)) legal |= UMASK2;
  if (has_bit(m.perfmon_ext_ebx, 1)) legal |= EQ;
  if (has_bit(m.perfmon_ext_ebx, 2)) legal |= RDPMC_USR_DISABLE;
  return legal;
}

u64 fixed_ctrl_bits(const CpuModel& m, unsigned) {
  using namespace msr::fixed_ctrl;
  u64 of_each = OS | USR | PMI;
  if (m.anythread) of_each |= ANY;
  if (m.has_capability(msr::perf_cap::PEBS_BASELINE) && !m.has_arch_pebs()) of_each |= ADAPTIVE;
  if (has_bit(m.perfmon_ext_ebx, 2)) of_each |= RDPMC_USR_DISABLE;
  u64 legal = 0;
  // Bits 63:32 leave room for counters 0 to 7 only.
  for (const unsigned n : set_bits(m.fixed_counters & 0xFF)) legal |= of_each << (4 * n);
  if (m.has_capability(msr::perf_cap::RDPMC_METRICS_CLEAR)) legal |= METRICS_CLEAR;
  return legal;
}

u64 global_ctrl_bits(const CpuModel& m, unsigned) {
  return m.counters() | (m.metrics_levels != 0 ? msr::status::PERF_METRICS : 0);
}

/// Everything that GLOBAL_STATUS can show.
u64 status_bits(const CpuModel& m, unsigned) {
  using namespace msr::status;
  u64 legal = m.counters() | OVF_BUF | COND_CHGD;
  if (m.perfmon_version >= 3) legal |= OVF_UNCORE;
  if (m.perfmon_version >= 4) legal |= LBR_FRZ | CTR_FRZ | ASCI;
  if (m.metrics_levels != 0) legal |= PERF_METRICS;
  if (m.has_arch_pebs()) legal |= ARCH_PEBS;
  return legal;
}
u64 in_use_bits(const CpuModel& m, unsigned) { return m.counters() | bit(63); }
u64 status_set_bits(const CpuModel& m, unsigned i) {
  return status_bits(m, i) & ~(m.policies.status_set_cond_chgd != 0 ? 0 : msr::status::COND_CHGD);
}

u64 cfg_c_bits(const CpuModel& m, unsigned counter) {
  const u64 reload = low_bits(32);
  if (!in_pebs_record_set(m, counter)) return reload;
  return reload | (u64{m.pebs.arch_capabilities} << 32 & bits(62, 35)) | bit(63);
}
u64 gp_cfg_c_bits(const CpuModel& m, unsigned n) { return cfg_c_bits(m, n); }
u64 fixed_cfg_c_bits(const CpuModel& m, unsigned n) { return cfg_c_bits(m, first_fixed + n); }

u64 global_ctrl_reset(const CpuModel& m, unsigned) { return m.gp_counters; }

}  // namespace

/// What the registers do to a CounterFile; `i` is the number within the row.
struct CounterAccess {
  static u64 gp(const CounterFile& c, unsigned n) { return c.counts_[n]; }
  static Fault write_gp(CounterFile& c, unsigned n, u64 value) {
    c.set_value(n, value);
    return Fault::none;
  }
  static Fault write_gp_legacy(CounterFile& c, unsigned n, u64 value) {
    c.set_value(n, sign_extend(value, 31));
    return Fault::none;
  }
  static u64 fixed(const CounterFile& c, unsigned n) { return c.counts_[first_fixed + n]; }
  static Fault write_fixed(CounterFile& c, unsigned n, u64 value) {
    c.set_value(first_fixed + n, value);
    return Fault::none;
  }
  static u64 event_select(const CounterFile& c, unsigned n) { return c.event_select_[n]; }
  static Fault write_event_select(CounterFile& c, unsigned n, u64 value) {
    c.event_select_[n] = value;
    c.update();
    return Fault::none;
  }
  static u64 fixed_ctrl(const CounterFile& c, unsigned) { return c.fixed_ctrl_; }
  static Fault write_fixed_ctrl(CounterFile& c, unsigned, u64 value) {
    c.fixed_ctrl_ = value;
    c.update();
    return Fault::none;
  }
  static u64 global_ctrl(const CounterFile& c, unsigned) { return c.global_ctrl_; }
  static Fault write_global_ctrl(CounterFile& c, unsigned, u64 value) {
    c.global_ctrl_ = value;
    c.update();
    return Fault::none;
  }
  static u64 status(const CounterFile& c, unsigned) { return c.status_; }
  static u64 reads_zero(const CounterFile&, unsigned) { return 0; }
  static Fault reset_status(CounterFile& c, unsigned, u64 value) {
    c.clear_status(value);
    return Fault::none;
  }
  static Fault set_status(CounterFile& c, unsigned, u64 value) {
    c.set_status(value);
    return Fault::none;
  }
  static u64 in_use(const CounterFile& c, unsigned) {
    using namespace msr;
    u64 used = 0;
    bool pmi = false;
    for (const unsigned n : set_bits(c.model_->gp_counters)) {
      if ((c.event_select_[n] & evtsel::EVENT) != 0) used |= bit(n);
      pmi |= (c.event_select_[n] & evtsel::INT) != 0;
    }
    for (const unsigned m : set_bits(c.model_->fixed_counters)) {
      const u64 nibble = c.fixed_ctrl_ >> (4 * m);
      if ((nibble & (fixed_ctrl::OS | fixed_ctrl::USR)) != 0) used |= bit(first_fixed + m);
      pmi |= (nibble & fixed_ctrl::PMI) != 0;
    }
    return used | (pmi || c.filters_.pebs_in_use ? bit(63) : 0);
  }
  static u64 metrics(const CounterFile& c, unsigned) { return c.perf_metrics(); }
  static Fault write_metrics(CounterFile& c, unsigned, u64 value) {
    c.metrics_.write(value, c.counts_[first_fixed + CounterFile::slots]);
    return Fault::none;
  }
  static u64 gp_cfg_c(const CounterFile& c, unsigned n) { return c.cfg_c_[n]; }
  static Fault write_gp_cfg_c(CounterFile& c, unsigned n, u64 value) {
    c.cfg_c_[n] = value;
    return Fault::none;
  }
  static u64 fixed_cfg_c(const CounterFile& c, unsigned n) { return c.cfg_c_[first_fixed + n]; }
  static Fault write_fixed_cfg_c(CounterFile& c, unsigned n, u64 value) {
    c.cfg_c_[first_fixed + n] = value;
    return Fault::none;
  }

  template <auto function>
  static constexpr auto read = &read_as<CounterFile, function>;
  template <auto function>
  static constexpr auto write = &write_as<CounterFile, function>;
  static std::span<const RegisterSpec> rows();
};

std::span<const RegisterSpec> CounterAccess::rows() {
  static constexpr u16 legacy_gp = 16, v6_gp = 32, fixed_count = 16, stride = msr::V6_STRIDE;
  static constexpr Unit counters = Unit::counters;
  static constexpr std::string_view count_bits = "W-1:0 count (W: counter width)";
  static constexpr std::string_view select_bits =
      "7:0 event, 15:8 umask, 16 USR, 17 OS, 18 EDGE, 19 PC, 20 INT, 21 ANY, 22 EN, 23 INV, 31:24 CMASK, 32 "
      "IN_TX, "
      "33 IN_TXCP, 34 adaptive record, 35 LBR log, 36 EQ, 37 RDPMC user disable, 47:40 UMASK2";
  static constexpr std::string_view status_names =
      "n PMCn, 32+m FIXED_CTRm, 48 PERF_METRICS, 54 arch-PEBS buffer, 58 LBR_FRZ, 59 CTR_FRZ, 60 ASCI, "
      "61 uncore, 62 DS buffer, 63 CondChgd";
  static constexpr std::string_view cfg_c_names =
      "31:0 reload value, 35 allow in record, 36 GP, 37 fixed, 38 metrics, 41:40 LBR, 55:49 vector, 61 GPR, "
      "62 AUX, "
      "63 PEBS enable";

  static constexpr RegisterSpec rows[] = {
      // The counter, sign-extended from bit 31 when written here.
      {.address = msr::PMC0,
       .count = legacy_gp,
       .name = "IA32_PMC{}",
       .owner = counters,
       .exists = gp_exists,
       .writable = any_value,
       .read = read<gp>,
       .write = write<write_gp_legacy>,
       .bits = "W-1:0 count; a write sign-extends bit 31"},
      {.address = msr::PERFEVTSEL0,
       .count = legacy_gp,
       .name = "IA32_PERFEVTSEL{}",
       .owner = counters,
       .exists = gp_exists,
       .writable = event_select_bits,
       .read = read<event_select>,
       .write = write<write_event_select>,
       .bits = select_bits},
      {.address = msr::FIXED_CTR0,
       .count = fixed_count,
       .name = "IA32_FIXED_CTR{}",
       .owner = counters,
       .exists = fixed_exists,
       .writable = counter_bits,
       .read = read<fixed>,
       .write = write<write_fixed>,
       .bits = count_bits},
      {.address = msr::PERF_METRICS,
       .name = "MSR_PERF_METRICS",
       .owner = counters,
       .exists = metrics_exist,
       .writable = any_value,
       .read = read<metrics>,
       .write = write<write_metrics>,
       .bits = "255ths of SLOTS: 7:0 retiring, 15:8 bad speculation, 23:16 front end, 31:24 back end, 39:32 "
               "heavy, "
               "47:40 branch mispredict, 55:48 fetch latency, 63:56 memory"},
      {.address = msr::FIXED_CTR_CTRL,
       .name = "IA32_FIXED_CTR_CTRL",
       .owner = counters,
       .exists = any_fixed,
       .writable = fixed_ctrl_bits,
       .read = read<fixed_ctrl>,
       .write = write<write_fixed_ctrl>,
       .bits = "4m+0 OS, 4m+1 USR, 4m+2 ANY (14: metrics clear), 4m+3 PMI, 32+4m adaptive record, 33+4m "
               "RDPMC user "
               "disable"},
      // What overflowed and what is frozen. Software clears bits through 390 and sets them through 391.
      {.address = msr::PERF_GLOBAL_STATUS,
       .name = "IA32_PERF_GLOBAL_STATUS",
       .owner = counters,
       .exists = version_2,
       .defined = status_bits,
       .read = read<status>,
       .bits = status_names},
      {.address = msr::PERF_GLOBAL_CTRL,
       .name = "IA32_PERF_GLOBAL_CTRL",
       .owner = counters,
       .exists = version_2,
       .writable = global_ctrl_bits,
       .reset = global_ctrl_reset,
       .read = read<global_ctrl>,
       .write = write<write_global_ctrl>,
       .bits = "n enable PMCn, 32+m enable FIXED_CTRm, 48 enable PERF_METRICS"},
      {.address = msr::PERF_GLOBAL_STATUS_RESET,
       .name = "IA32_PERF_GLOBAL_STATUS_RESET",
       .owner = counters,
       .exists = version_2,
       .writable = status_bits,
       .read = read<reads_zero>,
       .write = write<reset_status>,
       .bits = status_names},
      {.address = msr::PERF_GLOBAL_STATUS_SET,
       .name = "IA32_PERF_GLOBAL_STATUS_SET",
       .owner = counters,
       .exists = version_4,
       .writable = status_set_bits,
       .read = read<reads_zero>,
       .write = write<set_status>,
       .bits = status_names},
      {.address = msr::PERF_GLOBAL_INUSE,
       .name = "IA32_PERF_GLOBAL_INUSE",
       .owner = counters,
       .exists = version_4,
       .defined = in_use_bits,
       .read = read<in_use>,
       .bits = "n event code of PERFEVTSELn not 0, 32+m FIXED_CTRm enabled, 63 PMI in use"},
      {.address = msr::A_PMC0,
       .count = legacy_gp,
       .name = "IA32_A_PMC{}",
       .owner = counters,
       .exists = gp_full_width,
       .writable = counter_bits,
       .read = read<gp>,
       .write = write<write_gp>,
       .bits = count_bits},
      {.address = msr::V6_GP0_CTR,
       .count = v6_gp,
       .stride = stride,
       .name = "IA32_PMC_GP{}_CTR",
       .owner = counters,
       .exists = gp_v6,
       .writable = counter_bits,
       .read = read<gp>,
       .write = write<write_gp>,
       .bits = count_bits},
      {.address = msr::V6_GP0_CFG_A,
       .count = v6_gp,
       .stride = stride,
       .name = "IA32_PMC_GP{}_CFG_A",
       .owner = counters,
       .exists = gp_v6,
       .writable = event_select_bits,
       .read = read<event_select>,
       .write = write<write_event_select>,
       .bits = select_bits},
      {.address = msr::V6_GP0_CFG_C,
       .count = v6_gp,
       .stride = stride,
       .name = "IA32_PMC_GP{}_CFG_C",
       .owner = counters,
       .exists = gp_cfg_c_exists,
       .writable = gp_cfg_c_bits,
       .read = read<gp_cfg_c>,
       .write = write<write_gp_cfg_c>,
       .bits = cfg_c_names},
      {.address = msr::V6_FX0_CTR,
       .count = fixed_count,
       .stride = stride,
       .name = "IA32_PMC_FX{}_CTR",
       .owner = counters,
       .exists = fixed_v6,
       .writable = counter_bits,
       .read = read<fixed>,
       .write = write<write_fixed>,
       .bits = count_bits},
      {.address = msr::V6_FX0_CFG_C,
       .count = fixed_count,
       .stride = stride,
       .name = "IA32_PMC_FX{}_CFG_C",
       .owner = counters,
       .exists = fixed_cfg_c_exists,
       .writable = fixed_cfg_c_bits,
       .read = read<fixed_cfg_c>,
       .write = write<write_fixed_cfg_c>,
       .bits = cfg_c_names},
  };
  return rows;
}

std::span<const RegisterSpec> CounterFile::registers() { return CounterAccess::rows(); }

}  // namespace pmusim

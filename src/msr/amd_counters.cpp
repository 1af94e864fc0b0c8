// SPDX-License-Identifier: MIT
// AMD's core counters (APM vol. 2, 13.2): PERF_CTL and PERF_CTR with their legacy addresses, and the global
// registers of PerfMonV2. Reserved bits read 0, and a 1 that is written there is dropped.
#include "counter_rows.h"
#include "pmusim/arch/msr.h"

namespace pmusim {
namespace {

namespace a = msr::amd;

bool is_amd_counter(const CpuModel& m, unsigned n) { return m.amd.has_core_extension() && gp_exists(m, n); }
bool has_irperf(const CpuModel& m, unsigned) { return m.amd.has_irperf(); }
bool has_perfmon_v2(const CpuModel& m, unsigned) { return m.amd.has_perfmon_v2(); }
constexpr Field amd_select_bits[] = {
    {a::ctl::EVENT_LOW | a::ctl::EVENT_HIGH, "event"},
    {msr::evtsel::UMASK, "umask"},
    {msr::evtsel::USR, "USR"},
    {msr::evtsel::OS, "OS"},
    {msr::evtsel::EDGE, "EDGE"},
    {msr::evtsel::INT, "INT"},
    {msr::evtsel::EN, "EN"},
    {msr::evtsel::INV, "INV"},
    {msr::evtsel::CMASK, "CMASK"},
    {a::ctl::GUEST_ONLY, "GuestOnly (while EFER.SVME)"},
    {a::ctl::HOST_ONLY, "HostOnly (while EFER.SVME)"},
    {a::ctl::PREC_RET, "precise retirement",
     [](const CpuModel& m, unsigned n) { return n == 2 ? all_if(m.amd.has_precise_retire()) : 0; }},
};
constexpr u64 tsc_freq_sel = bit(24);  // of HWCR
u64 irperf_enable(const CpuModel& m, unsigned) { return m.amd.has_irperf() ? a::hwcr::IRPERF_EN : 0; }
constexpr Field hwcr_bits[] = {
    {tsc_freq_sel, "the TSC has the clock of P0 (RO)"},
    {a::hwcr::IRPERF_EN, "count in IRPerfCount", irperf_enable},
};
constexpr Field irperf_bits[] = {{~u64{0}, "instructions retired"}};
constexpr Field amd_enable_bits[] = {{all_gp, "enable PERF_CTRn (bit n)", gp_bits}};
constexpr Field amd_status_bits[] = {
    {all_gp, "PERF_CTRn (bit n)", gp_bits},
    {msr::status::LBR_FRZ, "LBR stack frozen", amd_freezes},
    {msr::status::CTR_FRZ, "counters frozen", amd_freezes},
};

}  // namespace

Rows<CounterFile> CounterFile::amd_core_registers() {
  using C = CounterFile;
  static constexpr Row<C> rows[] = {
      {.address = a::CTL0,
       .count = v6_gp_count,
       .stride = a::STRIDE,
       .name = "PERF_CTL{}",
       .exists = is_amd_counter,
       .fields = amd_select_bits,
       .ignored = any_value,
       .read = read_word<&C::event_select_>,
       .write = write_word<&C::event_select_>},
      {.address = a::CTR0,
       .count = v6_gp_count,
       .stride = a::STRIDE,
       .name = "PERF_CTR{}",
       .exists = is_amd_counter,
       .fields = count_fields,
       .ignored = any_value,
       .read = read_word<&C::counts_>,
       .write = write_word<&C::counts_>,
       .is_data = true},
      {.address = a::LEGACY_CTL0,
       .count = a::LEGACY_COUNTERS,
       .name = "PERF_LEGACY_CTL{}",
       .alias_of = a::CTL0,
       .exists = gp_exists},
      {.address = a::LEGACY_CTR0,
       .count = a::LEGACY_COUNTERS,
       .name = "PERF_LEGACY_CTR{}",
       .alias_of = a::CTR0,
       .exists = gp_exists},
  };
  return rows;
}

Rows<CounterFile> CounterFile::amd_global_registers() {
  using C = CounterFile;
  static constexpr Row<C> rows[] = {
      {.address = a::GLOBAL_STATUS,
       .name = "PerfCntrGlobalStatus",
       .exists = has_perfmon_v2,
       .fields = amd_status_bits,
       .writable = [](const CpuModel&, unsigned) { return u64{0}; },
       .ignored = any_value,
       .read = read_word<&C::status_>,
       .write = [](C&, At, u64) { return Fault::none; }},
      {.address = a::GLOBAL_CTL,
       .name = "PerfCntrGlobalCtl",
       .exists = has_perfmon_v2,
       .reset = [](const CpuModel& m, unsigned) { return global_ctrl_after_reset(m); },
       .fields = amd_enable_bits,
       .ignored = any_value,
       .read = read_word<&C::global_ctrl_>,
       .write = write_word<&C::global_ctrl_>},
      {.address = a::GLOBAL_STATUS_CLR,
       .name = "PerfCntrGlobalStatusClr",
       .exists = has_perfmon_v2,
       .fields = amd_status_bits,
       .ignored = any_value,
       .read = reads_zero,
       .write =
           [](C& c, At, u64 value) {
             c.status_ &= ~value;
             return Fault::none;
           }},
      {.address = a::GLOBAL_STATUS_SET,
       .name = "PerfCntrGlobalStatusSet",
       .exists = has_perfmon_v2,
       .fields = amd_status_bits,
       .ignored = any_value,
       .read = reads_zero,
       .write =
           [](C& c, At, u64 value) {
             c.status_ |= value;
             return Fault::none;
           }},
  };
  return rows;
}

/// A counter of its own that no freeze or global control stops (APM vol. 2, 13.2; PPR).
Rows<CounterFile> CounterFile::amd_instruction_registers() {
  using C = CounterFile;
  static constexpr Row<C> rows[] = {
      {.address = a::HWCR,
       .name = "HWCR",
       .reset = [](const CpuModel&, unsigned) { return tsc_freq_sel; },
       .fields = hwcr_bits,
       .writable = irperf_enable,
       .ignored = any_value,
       .read = [](const C& c, At) { return c.hwcr_ | tsc_freq_sel; },
       .write = write_word<&C::hwcr_>},
      {.address = a::IRPERF_COUNT,
       .name = "IRPerfCount",
       .exists = has_irperf,
       .fields = irperf_bits,
       .writable = [](const CpuModel&, unsigned) { return u64{0}; },
       .ignored = any_value,
       .read = [](const C& c, At) { return c.counts_[instructions_retired]; },
       .write = [](C&, At, u64) { return Fault::none; }},
  };
  return rows;
}

}  // namespace pmusim

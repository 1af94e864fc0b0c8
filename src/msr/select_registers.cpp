// SPDX-License-Identifier: MIT
// What a counter counts and when it samples: event selects, FIXED_CTR_CTRL, CFG_C.
#include "counter_rows.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim {
namespace {

u64 adaptive_records(const CpuModel& m, unsigned) {
  return all_if(m.has_capability(msr::perf_cap::PEBS_BASELINE) && !m.has_arch_pebs());
}
u64 any_thread(const CpuModel& m, unsigned) { return all_if(m.anythread); }
u64 transactions(const CpuModel& m, unsigned) { return all_if(m.rtm || m.hle); }
template <unsigned n>
u64 leaf_23_ebx(const CpuModel& m, unsigned) {
  return all_if(has_bit(m.perfmon_ext_ebx, n));
}

// IA32_PERFEVTSELn (SDM vol. 3, by version).
constexpr Field select_fields[] = {
    {msr::evtsel::EVENT, "event"},
    {msr::evtsel::UMASK, "umask"},
    {msr::evtsel::USR, "USR"},
    {msr::evtsel::OS, "OS"},
    {msr::evtsel::EDGE, "EDGE"},
    {msr::evtsel::PC, "PC", [](const CpuModel& m, unsigned) { return all_if(m.perfmon_version <= 5); }},
    {msr::evtsel::INT, "INT"},
    {msr::evtsel::ANY, "ANY", any_thread},
    {msr::evtsel::EN, "EN"},
    {msr::evtsel::INV, "INV"},
    {msr::evtsel::CMASK, "CMASK"},
    {msr::evtsel::IN_TX, "IN_TX", transactions},
    {msr::evtsel::IN_TXCP, "IN_TXCP",
     [](const CpuModel& m, unsigned n) { return n == 2 ? transactions(m, n) : 0; }},
    {msr::evtsel::ADAPTIVE, "adaptive record", adaptive_records},
    {msr::evtsel::BR_CNTR, "LBR log",
     [](const CpuModel& m, unsigned n) { return all_if(n < 4 && has_bit(m.lbr.cpuid_1c_ecx, 16 + n)); }},
    {msr::evtsel::EQ, "EQ", leaf_23_ebx<1>},
    {msr::evtsel::RDPMC_USR_DISABLE, "RDPMC user disable", leaf_23_ebx<2>},
    {msr::evtsel::UMASK2, "UMASK2", leaf_23_ebx<0>},
};

/// A bit of fixed counter 0 in FIXED_CTR_CTRL, for all of them: bits 63:32 leave room for eight.
constexpr u64 of_each_fixed(u64 bit_of_first) {
  u64 mask = 0;
  for (unsigned m = 0; m < 8; ++m) mask |= bit_of_first << (4 * m);
  return mask;
}
/// The bits of the fixed counters that there are: both of their nibbles.
u64 existing_nibbles(const CpuModel& model, unsigned) {
  constexpr u64 both = msr::fixed_ctrl::NIBBLE | msr::fixed_ctrl::NIBBLE << 32;
  u64 mask = 0;
  for (const unsigned m : set_bits(model.fixed_counters & 0xFF)) mask |= both << (4 * m);
  return mask;
}
/// A property of all fixed counters at once.
template <auto property>
u64 on_fixed(const CpuModel& m, unsigned n) {
  return existing_nibbles(m, n) & property(m, n);
}

constexpr Field fixed_ctrl_fields[] = {
    {of_each_fixed(msr::fixed_ctrl::OS), "OS of FIXED_CTRm (bit 4m)", existing_nibbles},
    {of_each_fixed(msr::fixed_ctrl::USR), "USR (4m + 1)", existing_nibbles},
    {of_each_fixed(msr::fixed_ctrl::ANY), "ANY (4m + 2)", on_fixed<any_thread>},
    {of_each_fixed(msr::fixed_ctrl::PMI), "PMI (4m + 3)", existing_nibbles},
    {msr::fixed_ctrl::METRICS_CLEAR, "RDPMC clears the metrics",
     [](const CpuModel& m, unsigned) {
       return all_if(m.has_capability(msr::perf_cap::RDPMC_METRICS_CLEAR));
     }},
    {of_each_fixed(msr::fixed_ctrl::ADAPTIVE), "adaptive record (32 + 4m)", on_fixed<adaptive_records>},
    {of_each_fixed(msr::fixed_ctrl::RDPMC_USR_DISABLE), "RDPMC user disable (33 + 4m)",
     on_fixed<leaf_23_ebx<2>>},
};

bool in_pebs_record_set(const CpuModel& m, unsigned counter) {
  return m.has_arch_pebs() && (m.pebs.counters & bit(counter)) != 0;
}
bool has_cfg_c(const CpuModel& m, unsigned counter) {
  return m.perfmon_version >= 6 && (in_pebs_record_set(m, counter) || (m.acr.reloadable & bit(counter)) != 0);
}
/// CPUID.23H.4:EBX has the bits of CFG_C's upper half; the enable needs no leave but the record set's.
template <unsigned first>
u64 record_bits(const CpuModel& m, unsigned n) {
  if (!in_pebs_record_set(m, first + n)) return 0;
  return (m.pebs_groups() & bits(62, 35)) | pebs::cfg_c::ENABLE;
}

// IA32_PMC_GPn_CFG_C and FXm_CFG_C: how the counter reloads, and what its architectural PEBS record holds.
template <unsigned first>
constexpr Field cfg_c_fields[] = {
    {pebs::cfg_c::RELOAD, "reload value"},
    {pebs::cfg_c::ALLOW_IN_RECORD, "allow in record", record_bits<first>},
    {pebs::cfg_c::GP, "record GP counters", record_bits<first>},
    {pebs::cfg_c::FIXED, "record fixed counters", record_bits<first>},
    {pebs::cfg_c::METRICS, "record metrics", record_bits<first>},
    {pebs::cfg_c::LBR, "record LBR", record_bits<first>},
    {pebs::cfg_c::VECTORS, "record vector registers", record_bits<first>},
    {pebs::cfg_c::GPRS, "record GPRs", record_bits<first>},
    {pebs::cfg_c::AUX, "record AUX", record_bits<first>},
    {pebs::cfg_c::ENABLE, "PEBS enable", record_bits<first>},
};

}  // namespace

Rows<CounterFile> CounterFile::select_registers() {
  using C = CounterFile;
  static constexpr Row<C> rows[] = {
      {.address = msr::PERFEVTSEL0,
       .count = legacy_gp_count,
       .name = "IA32_PERFEVTSEL{}",
       .exists = gp_exists,
       .fields = select_fields,
       .read = read_word<&C::event_select_>,
       .write = write_word<&C::event_select_>},
      {.address = msr::V6_GP0_CFG_A,
       .count = v6_gp_count,
       .stride = msr::V6_STRIDE,
       .name = "IA32_PMC_GP{}_CFG_A",
       .alias_of = msr::PERFEVTSEL0,
       .exists = v6_gp_exists},

      {.address = msr::FIXED_CTR_CTRL,
       .name = "IA32_FIXED_CTR_CTRL",
       .exists = [](const CpuModel& m, unsigned) { return m.usable_fixed_counters() != 0; },
       .fields = fixed_ctrl_fields,
       .read = read_word<&C::fixed_ctrl_>,
       .write = write_word<&C::fixed_ctrl_>},

      {.address = msr::V6_GP0_CFG_C,
       .count = v6_gp_count,
       .stride = msr::V6_STRIDE,
       .name = "IA32_PMC_GP{}_CFG_C",
       .exists = [](const CpuModel& m, unsigned n) { return gp_exists(m, n) && has_cfg_c(m, n); },
       .fields = cfg_c_fields<0>,
       .read = read_word<&C::cfg_c_>,
       .write = write_word<&C::cfg_c_>},
      {.address = msr::V6_FX0_CFG_C,
       .count = fixed_count,
       .stride = msr::V6_STRIDE,
       .name = "IA32_PMC_FX{}_CFG_C",
       .exists = [](const CpuModel& m,
                    unsigned n) { return fixed_exists(m, n) && has_cfg_c(m, first_fixed + n); },
       .fields = cfg_c_fields<first_fixed>,
       .read = read_word<&C::cfg_c_, first_fixed>,
       .write = write_word<&C::cfg_c_, first_fixed>},
  };
  return rows;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
// What holds for all counters together: GLOBAL_CTRL, GLOBAL_STATUS with the addresses that change it, INUSE.
#include "counter_rows.h"

namespace pmusim {
namespace {

constexpr Field global_ctrl_fields[] = {
    {all_gp, "enable PMCn (bit n)", gp_bits},
    {all_fixed, "enable FIXED_CTRm (bit 32 + m)", fixed_bits},
    {msr::status::PERF_METRICS, "enable PERF_METRICS", with_metrics},
};

template <unsigned version>
u64 since(const CpuModel& m, unsigned) {
  return all_if(m.perfmon_version >= version);
}
/// Everything that GLOBAL_STATUS can show; `cond_chgd` says where bit 63 is.
constexpr std::array<Field, 10> status_fields(u64 (*cond_chgd)(const CpuModel&, unsigned)) {
  return {{
      {all_gp, "PMCn (bit n)", gp_bits},
      {all_fixed, "FIXED_CTRm (bit 32 + m)", fixed_bits},
      {msr::status::PERF_METRICS, "PERF_METRICS", with_metrics},
      {msr::status::ARCH_PEBS, "arch-PEBS buffer",
       [](const CpuModel& m, unsigned) { return all_if(m.has_arch_pebs()); }},
      {msr::status::LBR_FRZ, "LBR_FRZ", since<4>},
      {msr::status::CTR_FRZ, "CTR_FRZ", since<4>},
      {msr::status::ASCI, "ASCI", since<4>},
      {msr::status::OVF_UNCORE, "uncore", since<3>},
      {msr::status::OVF_BUF, "DS buffer"},
      {msr::status::COND_CHGD, "CondChgd", cond_chgd},
  }};
}
constexpr auto shown_fields = status_fields(nullptr);
constexpr auto settable_fields =
    status_fields([](const CpuModel& m, unsigned) { return all_if(m.policies.status_set_cond_chgd != 0); });

constexpr Field in_use_fields[] = {
    {all_gp, "event code of PERFEVTSELn is not 0 (bit n)", gp_bits},
    {all_fixed, "FIXED_CTRm is enabled (bit 32 + m)", fixed_bits},
    {bit(63), "PMI in use"},
};

}  // namespace

/// IA32_PERF_GLOBAL_CTRL after RESET: SDM vol. 3, table 10-1 has the bits of the n general-purpose counters
/// set, older editions none. Leaf 0AH of a hybrid product counts fewer than its larger core has.
u64 CounterFile::global_ctrl_after_reset(const CpuModel& model) {
  if (model.policies.global_ctrl_reset == 2) return 0;
  const bool as_leaf_0a_counts = model.policies.global_ctrl_reset == 1 && model.package_view;
  return as_leaf_0a_counts ? model.package_view->gp_counters : model.usable_gp_counters();
}

/// IA32_PERF_GLOBAL_INUSE: an event select without EN but with an event is in use.
u64 CounterFile::in_use() const {
  using namespace msr;
  u64 used = 0;
  bool pmi = filters_.pebs_in_use;
  for (const unsigned n : set_bits(model_->gp_counters)) {
    if ((event_select_[n] & evtsel::EVENT) != 0) used |= bit(n);
    pmi |= (event_select_[n] & evtsel::INT) != 0;
  }
  for (const unsigned m : set_bits(model_->fixed_counters)) {
    const u64 nibble = fixed_ctrl_ >> (4 * m);
    if ((nibble & (fixed_ctrl::OS | fixed_ctrl::USR)) != 0) used |= bit(first_fixed + m);
    pmi |= (nibble & fixed_ctrl::PMI) != 0;
  }
  return used | (pmi ? bit(63) : 0);
}

Rows<CounterFile> CounterFile::status_registers() {
  using C = CounterFile;
  static constexpr Row<C> rows[] = {
      // What overflowed and what is frozen. Software clears bits through 390 and sets them through 391.
      {.address = msr::PERF_GLOBAL_STATUS,
       .name = "IA32_PERF_GLOBAL_STATUS",
       .exists = has_version_2,
       .fields = shown_fields,
       .read = read_word<&C::status_>},
      {.address = msr::PERF_GLOBAL_CTRL,
       .name = "IA32_PERF_GLOBAL_CTRL",
       .exists = has_version_2,
       .reset = [](const CpuModel& m, unsigned) { return global_ctrl_after_reset(m); },
       .fields = global_ctrl_fields,
       .read = read_word<&C::global_ctrl_>,
       .write = write_word<&C::global_ctrl_>},
      {.address = msr::PERF_GLOBAL_STATUS_RESET,
       .name = "IA32_PERF_GLOBAL_STATUS_RESET",
       .exists = has_version_2,
       .fields = shown_fields,
       .read = reads_zero,
       .write =
           [](C& c, At, u64 value) {
             c.status_ &= ~value;
             return Fault::none;
           }},
      {.address = msr::PERF_GLOBAL_STATUS_SET,
       .name = "IA32_PERF_GLOBAL_STATUS_SET",
       .exists = has_version_4,
       .fields = settable_fields,
       .read = reads_zero,
       .write =
           [](C& c, At, u64 value) {
             c.status_ |= value;
             return Fault::none;
           }},
      {.address = msr::PERF_GLOBAL_INUSE,
       .name = "IA32_PERF_GLOBAL_INUSE",
       .exists = has_version_4,
       .fields = in_use_fields,
       .read = [](const C& c, At) { return c.in_use(); }},
  };
  return rows;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
// The counts: general-purpose and fixed counters with their aliases, and PERF_METRICS.
#include "counter_rows.h"

namespace pmusim {
namespace {

bool writes_full_width(const CpuModel& m, unsigned n) {
  return gp_exists(m, n) && m.has_capability(msr::perf_cap::FW_WRITE);
}

u64 second_level(const CpuModel& m, unsigned) { return all_if(m.metrics_levels >= 2); }
constexpr Field metrics_fields[] = {
    {bits(7, 0), "retiring, in 255ths of SLOTS"},
    {bits(15, 8), "bad speculation"},
    {bits(23, 16), "front end"},
    {bits(31, 24), "back end"},
    {bits(39, 32), "heavy", second_level},
    {bits(47, 40), "branch mispredict", second_level},
    {bits(55, 48), "fetch latency", second_level},
    {bits(63, 56), "memory", second_level},
};

}  // namespace

Rows<CounterFile> CounterFile::count_registers() {
  using C = CounterFile;
  static constexpr Row<C> rows[] = {
      // Any value may be written here: bit 31 is extended into the bits above it.
      {.address = msr::PMC0,
       .count = legacy_gp_count,
       .name = "IA32_PMC{}",
       .exists = gp_exists,
       .fields = count_fields,
       .writable = any_value,
       .read = read_word<&C::counts_>,
       .write =
           [](C& c, At at, u64 value) {
             c.set_value(at.n, sign_extend(value, 31));
             return Fault::none;
           },
       .is_data = true},
      {.address = msr::A_PMC0,
       .count = legacy_gp_count,
       .name = "IA32_A_PMC{}",
       .alias_of = msr::PMC0,
       .exists = writes_full_width,
       .write = write_word<&C::counts_>},
      {.address = msr::V6_GP0_CTR,
       .count = v6_gp_count,
       .stride = msr::V6_STRIDE,
       .name = "IA32_PMC_GP{}_CTR",
       .alias_of = msr::PMC0,
       .exists = v6_gp_exists,
       .write = write_word<&C::counts_>},

      {.address = msr::FIXED_CTR0,
       .count = fixed_count,
       .name = "IA32_FIXED_CTR{}",
       .exists = fixed_exists,
       .fields = count_fields,
       .read = read_word<&C::counts_, first_fixed>,
       .write = write_word<&C::counts_, first_fixed>,
       .is_data = true},
      {.address = msr::V6_FX0_CTR,
       .count = fixed_count,
       .stride = msr::V6_STRIDE,
       .name = "IA32_PMC_FX{}_CTR",
       .alias_of = msr::FIXED_CTR0,
       .exists = v6_fixed_exists},

      // Keeps what was written until SLOTS counts on. Bytes that the model lacks may be written and are lost.
      {.address = msr::PERF_METRICS,
       .name = "MSR_PERF_METRICS",
       .exists = [](const CpuModel& m, unsigned) { return m.metrics_levels != 0; },
       .fields = metrics_fields,
       .writable = any_value,
       .read = [](const C& c, At) { return c.perf_metrics(); },
       .write =
           [](C& c, At, u64 value) {
             c.metrics_.write(value, c.counts_[first_fixed + slots]);
             return Fault::none;
           },
       .is_data = true},
  };
  return rows;
}

RowFamilies<CounterFile> CounterFile::registers(Vendor vendor) {
  if (vendor == Vendor::amd)
    return {amd_core_registers(), amd_global_registers(), amd_instruction_registers()};
  return {count_registers(), select_registers(), status_registers()};
}

}  // namespace pmusim

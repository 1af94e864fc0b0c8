// SPDX-License-Identifier: MIT
// CFG_B: which overflows reload a counter.
#include "acr/acr_unit.h"

namespace pmusim {
namespace {

u64 causes(const CpuModel& m, unsigned) { return m.acr.cause; }
constexpr Field cfg_b_fields[] = {
    {bits(31, 0), "overflow of GP n reloads this counter (bit n)", causes},
    {bits(63, 32), "overflow of fixed m does (bit 32 + m)", causes},
};

template <unsigned first>
bool can_reload(const CpuModel& m, unsigned n) {
  return (m.acr.reloadable >> (first + n) & 1) != 0;
}

}  // namespace

RowFamilies<AcrUnit> AcrUnit::registers(Vendor vendor) {
  if (vendor == Vendor::amd) return {};
  using A = AcrUnit;
  static constexpr Row<A> rows[] = {
      {.address = msr::V6_GP0_CFG_B,
       .count = 32,
       .stride = msr::V6_STRIDE,
       .name = "IA32_PMC_GP{}_CFG_B",
       .exists = can_reload<0>,
       .fields = cfg_b_fields,
       .read = read_word<&A::cfg_b_>,
       .write = write_word<&A::cfg_b_>},
      {.address = msr::V6_FX0_CFG_B,
       .count = 16,
       .stride = msr::V6_STRIDE,
       .name = "IA32_PMC_FX{}_CFG_B",
       .exists = can_reload<first_fixed>,
       .fields = cfg_b_fields,
       .read = read_word<&A::cfg_b_, first_fixed>,
       .write = write_word<&A::cfg_b_, first_fixed>},
  };
  return {rows};
}

}  // namespace pmusim

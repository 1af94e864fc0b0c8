// SPDX-License-Identifier: MIT
// What off-core and snoop events count: masks of requests and responses.
#include "msr/control.h"

namespace pmusim {
namespace {

constexpr Field offcore_fields[] = {{~u64{0}, "request and response filter of the off-core response event",
                                     [](const CpuModel& m, unsigned n) { return m.offcore_rsp[n]; }}};
constexpr Field omr_fields[] = {
    {~u64{0}, "filter of the off-module response event", [](const CpuModel& m, unsigned) { return m.omr; }}};
constexpr Field snoop_fields[] = {
    {~u64{0}, "filter of the snoop response event", [](const CpuModel& m, unsigned) { return m.snoop_rsp; }}};

/// A filter of which a model has no bit does not exist.
template <const auto& fields>
bool has_bits(const CpuModel& m, unsigned n) {
  return bits_on(fields, m, n) != 0;
}

}  // namespace

Rows<ControlRegisters> ControlRegisters::filter_registers() {
  using C = ControlRegisters;
  static constexpr Row<C> rows[] = {
      {.address = msr::OFFCORE_RSP_0,
       .count = 2,
       .name = "MSR_OFFCORE_RSP_{}",
       .exists = has_bits<offcore_fields>,
       .fields = offcore_fields,
       .read = read_word<&C::offcore_>,
       .write = write_word<&C::offcore_>,
       .of_core = are_filters_of_core},
      {.address = msr::OMR_0,
       .count = 4,
       .name = "MSR_OMR_{}",
       .exists = has_bits<omr_fields>,
       .fields = omr_fields,
       .read = read_word<&C::omr_>,
       .write = write_word<&C::omr_>},
      {.address = msr::SNOOP_RSP_0,
       .count = 2,
       .name = "MSR_SNOOP_RSP_{}",
       .exists = has_bits<snoop_fields>,
       .fields = snoop_fields,
       .read = read_word<&C::snoop_>,
       .write = write_word<&C::snoop_>},
  };
  return rows;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "architectural_events.h"

#include <iterator>

namespace pmusim {
namespace {

constexpr EventRule signal(Signal s) { return {.all = {s}}; }
constexpr EventRule quantity(Quantity q) { return {.quantity = q}; }

constexpr EventDefinition architectural[] = {
    {.name = "UNHALTED_CORE_CYCLES", .event = 0x3C, .umask = 0x00, .rule = quantity(Quantity::cycles)},
    {.name = "INSTRUCTION_RETIRED", .event = 0xC0, .umask = 0x00, .rule = signal(Signal::instruction)},
    {.name = "UNHALTED_REFERENCE_CYCLES",
     .event = 0x3C,
     .umask = 0x01,
     .rule = quantity(Quantity::reference_cycles)},
    {.name = "LLC_REFERENCES", .event = 0x2E, .umask = 0x4F, .rule = quantity(Quantity::llc_references)},
    {.name = "LLC_MISSES", .event = 0x2E, .umask = 0x41, .rule = quantity(Quantity::llc_misses)},
    {.name = "BRANCH_INSTRUCTIONS_RETIRED", .event = 0xC4, .umask = 0x00, .rule = signal(Signal::branch)},
    {.name = "BRANCH_MISSES_RETIRED", .event = 0xC5, .umask = 0x00, .rule = signal(Signal::mispredicted)},
    {.name = "TOPDOWN_SLOTS", .event = 0xA4, .umask = 0x01, .rule = quantity(Quantity::slots)},
    {.name = "TOPDOWN_BACKEND_BOUND",
     .event = 0xA4,
     .umask = 0x02,
     .rule = quantity(Quantity::slots_backend)},
    {.name = "TOPDOWN_BAD_SPECULATION",
     .event = 0x73,
     .umask = 0x00,
     .rule = quantity(Quantity::slots_bad_speculation)},
    {.name = "TOPDOWN_FRONTEND_BOUND",
     .event = 0x9C,
     .umask = 0x01,
     .rule = quantity(Quantity::slots_frontend)},
    {.name = "TOPDOWN_RETIRING", .event = 0xC2, .umask = 0x02, .rule = quantity(Quantity::uops)},
    {.name = "LBR_INSERTS", .event = 0xE4, .umask = 0x01, .rule = signal(Signal::lbr_insert)},
};

constexpr EventDefinition fixed[] = {
    {.name = "INST_RETIRED.ANY", .umask = 0x01, .rule = signal(Signal::instruction)},
    {.name = "CPU_CLK_UNHALTED.THREAD", .umask = 0x02, .rule = quantity(Quantity::cycles)},
    {.name = "CPU_CLK_UNHALTED.REF_TSC", .umask = 0x03, .rule = quantity(Quantity::reference_cycles)},
    {.name = "TOPDOWN.SLOTS", .umask = 0x04, .rule = quantity(Quantity::slots)},
    {.name = "TOPDOWN_BAD_SPECULATION.ALL", .umask = 0x05, .rule = quantity(Quantity::slots_bad_speculation)},
    {.name = "TOPDOWN_FE_BOUND.ALL", .umask = 0x06, .rule = quantity(Quantity::slots_frontend)},
    {.name = "TOPDOWN_RETIRING.ALL", .umask = 0x07, .rule = quantity(Quantity::uops)},
};

}  // namespace

std::optional<EventDefinition> find_architectural_event(const CpuModel& model, u16 event, u16 umask) {
  for (const unsigned i : set_bits(model.arch_events)) {
    if (i < std::size(architectural) && architectural[i].event == event && architectural[i].umask == umask)
      return architectural[i];
  }
  return std::nullopt;
}

std::optional<EventDefinition> find_architectural_fixed_event(const CpuModel& model, unsigned fixed_counter) {
  if (fixed_counter >= std::size(fixed) || (model.fixed_counters & bit(fixed_counter)) == 0)
    return std::nullopt;
  return fixed[fixed_counter];
}

}  // namespace pmusim

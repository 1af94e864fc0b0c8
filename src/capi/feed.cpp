// SPDX-License-Identifier: MIT
// Instructions that retire, and time in which none does.
#include <fmt/format.h>

#include "capi/cpu.h"

using namespace pmusim;
using capi::guarded;
using capi::Misuse;
using capi::require;

namespace pmusim::capi {
namespace {

constexpr u8 plain_bytes = 4;
constexpr u64 most_wait_cycles = u64{1} << 40;

Retirement plain_instruction(const pmusim_cpu& cpu, Cpl cpl) {
  Retirement r{.ip = cpu.next_ip(),
               .next_ip = cpu.next_ip() + plain_bytes,
               .cycle = cpu.pmu().now() + 1,
               .signals = {Signal::instruction},
               .length = plain_bytes,
               .cpl = cpl,
               .cpl_after = cpl,
               .latency_cycles = 1,
               .retire_latency_cycles = 1};
  r.quantities[static_cast<unsigned>(Quantity::uops)] = 1;
  return r;
}

}  // namespace
}  // namespace pmusim::capi

int pmusim_run_instructions(pmusim_cpu* cpu, uint64_t count, int ring) {
  return guarded("pmusim_run_instructions", [&] {
    const Cpl cpl = capi::cpl_of(ring);
    require(cpu, "cpu");
    for (u64 n = 0; n < count; ++n) cpu->retire(capi::plain_instruction(*cpu, cpl));
    return PMUSIM_OK;
  });
}

int pmusim_wait(pmusim_cpu* cpu, uint64_t cycles, int ring) {
  return guarded("pmusim_wait", [&] {
    if (cycles > capi::most_wait_cycles)
      throw Misuse(fmt::format("cycles is {}: expected at most 2^40", cycles));
    InterruptFrame frame{.cpl = capi::cpl_of(ring)};
    frame.registers.rip = require(cpu, "cpu").next_ip();
    cpu->pmu().wait_until(cpu->pmu().now() + cycles, frame);
    return PMUSIM_OK;
  });
}

int pmusim_now(const pmusim_cpu* cpu, uint64_t* cycle) {
  return guarded("pmusim_now", [&] {
    require(cycle, "cycle") = require(cpu, "cpu").pmu().now();
    return PMUSIM_OK;
  });
}

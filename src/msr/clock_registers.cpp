// SPDX-License-Identifier: MIT
// The clocks: each is a function of the core cycle of the access.
#include "cpu/clocks.h"
#include "msr/control.h"

namespace pmusim {

u64 ControlRegisters::tsc_at(u64 cycle) const { return tsc_clock(model_->core).ticks(cycle) + tsc_offset_; }

void ControlRegisters::stand_still(u64 since, u64 until) {
  const Clock tsc = tsc_clock(model_->core);
  mperf_.value -= tsc.ticks(until) - tsc.ticks(since);
  aperf_.value -= until - since;
}

namespace {

constexpr Field tsc_fields[] = {{~u64{0}, "TSC ticks"}};
constexpr Field tsc_adjust_fields[] = {{~u64{0}, "what software added to the TSC"}};
constexpr Field mperf_fields[] = {{~u64{0}, "TSC ticks while not halted"}};
constexpr Field aperf_fields[] = {{~u64{0}, "core cycles while not halted"}};
constexpr Field pperf_fields[] = {{~u64{0}, "productive core cycles"}};
constexpr Field tsc_aux_fields[] = {{bits(31, 0), "what RDTSCP and RDPID return"}};

}  // namespace

Rows<ControlRegisters> ControlRegisters::clock_registers() {
  using C = ControlRegisters;
  static constexpr Row<C> rows[] = {
      // Runs at a constant rate. A write moves TSC_ADJUST by as much.
      {.address = msr::TSC,
       .name = "IA32_TIME_STAMP_COUNTER",
       .fields = tsc_fields,
       .read = [](const C& c, At at) { return c.tsc_at(at.cycle); },
       .write =
           [](C& c, At at, u64 value) {
             const u64 moved = value - c.tsc_at(at.cycle);
             c.tsc_offset_ += moved;
             if (c.model_->has_tsc_adjust) c.tsc_adjust_ += moved;
             return Fault::none;
           }},
      {.address = msr::TSC_ADJUST,
       .name = "IA32_TSC_ADJUST",
       .exists = [](const CpuModel& m, unsigned) { return m.has_tsc_adjust; },
       .fields = tsc_adjust_fields,
       .read = read_word<&C::tsc_adjust_>,
       .write =
           [](C& c, At, u64 value) {
             c.tsc_offset_ += value - c.tsc_adjust_;
             c.tsc_adjust_ = value;
             return Fault::none;
           }},
      {.address = msr::MPERF,
       .name = "IA32_MPERF",
       .fields = mperf_fields,
       .read =
           [](const C& c, At at) {
             const Clock clock = tsc_clock(c.model_->core);
             return c.mperf_.value + clock.ticks(at.cycle) - clock.ticks(c.mperf_.cycle);
           },
       .write =
           [](C& c, At at, u64 value) {
             c.mperf_ = {at.cycle, value};
             return Fault::none;
           }},
      {.address = msr::APERF,
       .name = "IA32_APERF",
       .fields = aperf_fields,
       .read = [](const C& c, At at) { return c.aperf_.value + at.cycle - c.aperf_.cycle; },
       .write =
           [](C& c, At at, u64 value) {
             c.aperf_ = {at.cycle, value};
             return Fault::none;
           }},
      {.address = msr::PPERF,
       .name = "MSR_PPERF",
       .exists = [](const CpuModel& m, unsigned) { return m.has_pperf; },
       .fields = pperf_fields,
       .read = [](const C&, At at) { return at.cycle; }},
      {.address = msr::TSC_AUX,
       .name = "IA32_TSC_AUX",
       .exists = [](const CpuModel& m, unsigned) { return m.has_rdtscp; },
       .fields = tsc_aux_fields,
       .read = read_word<&C::tsc_aux_>,
       .write = write_word<&C::tsc_aux_>},
  };
  return rows;
}

}  // namespace pmusim

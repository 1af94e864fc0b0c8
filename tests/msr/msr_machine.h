// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_MSR_MSR_MACHINE_H
#define PMUSIM_TESTS_MSR_MSR_MACHINE_H

#include <gtest/gtest.h>

#include "msr/control.h"
#include "msr/counters.h"
#include "msr/register_file.h"

namespace pmusim::testing {

/// The counters and control registers of a model behind their MSR addresses, and a hand to feed them events.
class MsrMachine {
 public:
  explicit MsrMachine(CpuModel model) : model_(std::move(model)), counters(model_), control(model_) {}
  explicit MsrMachine(std::string_view name) : MsrMachine(find_cpu_model(name).value()) {}
  MsrMachine(const MsrMachine&) = delete;
  MsrMachine& operator=(const MsrMachine&) = delete;

  Fault wrmsr(u32 address, u64 value) {
    return registers_.write(address, value, counters.now(), counters, control).fault;
  }
  FaultOr<u64> rdmsr(u32 address) { return registers_.read(address, counters.now(), counters, control); }
  /// The value, or a failed test.
  u64 read(u32 address) {
    const FaultOr<u64> value = rdmsr(address);
    EXPECT_TRUE(value.ok()) << std::hex << "RDMSR " << address << " faulted on " << model_.name;
    return value.value_or(0);
  }
  void write(u32 address, u64 value) {
    EXPECT_EQ(wrmsr(address, value), Fault::none)
        << std::hex << "WRMSR " << address << " <- " << value << " faulted on " << model_.name;
  }

  /// `count` instructions with these signals retire in cycle `cycle`; the masks of all steps, ored.
  Counted retire_at(u64 cycle, SignalSet signals, unsigned count = 1, Cpl cpl = Cpl::user) {
    Counted sum = pass_to(cycle, cpl);
    Retirement r;
    r.cycle = cycle;
    r.signals = signals;
    r.cpl = cpl;
    for (unsigned i = 0; i < count; ++i) merge(sum, counters.retire(r));
    return sum;
  }
  Counted pass_to(u64 cycle, Cpl cpl = Cpl::user) {
    Counted sum;
    while (counters.now() != cycle) merge(sum, counters.pass_time(cycle, cpl));
    return sum;
  }

  const CpuModel& model() const { return model_; }

 private:
  static void merge(Counted& sum, const Counted& step) {
    sum.occurred |= step.occurred;
    sum.overflowed |= step.overflowed;
  }

  CpuModel model_;

 public:
  CounterFile counters;
  ControlRegisters control;

 private:
  RegisterFile<CounterFile, ControlRegisters> registers_{model_};
};

}  // namespace pmusim::testing

#endif

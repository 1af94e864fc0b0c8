// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_PMU_AMD_CPU_H
#define PMUSIM_TESTS_PMU_AMD_CPU_H

#include <gtest/gtest.h>

#include "pmusim/arch/branch.h"
#include "pmusim/pmu/pmu.h"

namespace pmusim::amd_test {

inline CpuModel model_named(std::string_view name) {
  CpuModel model = find_cpu_model(name).value();
  model.policies.pmi_skid_cycles = 0;
  return model;
}

/// A CPU of AMD's, with a handler that does what Linux' does and no more: it never writes LVTPC.
class Cpu : public PmiHandler {
 public:
  explicit Cpu(std::string_view name) : pmu(model_named(name)) {
    pmu.set_pmi_handler(this);
    set_lvtpc(0x400);
  }
  /// Zen 1 has its local APIC in memory alone.
  void set_lvtpc(u32 value) {
    if (pmu.model().has_x2apic) return write(0x834, value);
    EXPECT_EQ(pmu.write_memory(0xFEE00340, std::as_bytes(std::span(&value, 1))), Fault::none);
  }
  u32 lvtpc() {
    if (pmu.model().has_x2apic) return static_cast<u32>(read(0x834));
    u32 value = 0;
    EXPECT_EQ(pmu.read_memory(0xFEE00340, std::as_writable_bytes(std::span(&value, 1))), Fault::none);
    return value;
  }
  void write(u32 address, u64 value) {
    EXPECT_EQ(pmu.wrmsr(address, value), Fault::none) << std::hex << address << " " << pmu.why();
  }
  u64 read(u32 address) {
    const auto value = pmu.rdmsr(address);
    EXPECT_TRUE(value.ok()) << std::hex << address << " " << pmu.why();
    return value.value_or(~u64{0});
  }
  /// Instructions, `at_once` in each cycle.
  void retire_instructions(unsigned count, unsigned at_once = 1, Cpl cpl = Cpl::user) {
    for (unsigned n = 0; n < count; ++n)
      pmu.retire({.ip = 0x401000 + 4 * n,
                  .next_ip = 0x401004 + 4 * n,
                  .cycle = pmu.now() + (n % at_once == 0 ? 1 : 0),
                  .signals = {Signal::instruction},
                  .length = 4,
                  .cpl = cpl,
                  .cpl_after = cpl});
  }
  void retire_branch(u64 from, u64 to, BranchKind kind = BranchKind::direct_jump, Cpl before = Cpl::user,
                     Cpl after = Cpl::user, bool mispredicted = false) {
    pmu.retire({.ip = from,
                .next_ip = to,
                .cycle = pmu.now() + 1,
                .signals = SignalSet{Signal::instruction} | branch_signals(kind) |
                           outcome_signals(kind, {.taken = true, .mispredicted = mispredicted}),
                .length = 2,
                .branch = kind,
                .taken = true,
                .mispredicted = mispredicted,
                .cpl = before,
                .cpl_after = after});
  }
  void handle_pmi(const InterruptFrame&) override { ++pmis; }

  Pmu pmu;
  unsigned pmis = 0;
};

inline constexpr u64 user_instructions = 0x4100C0, with_interrupt = 0x5100C0;  // EN, USR; INT

}  // namespace pmusim::amd_test

#endif

// SPDX-License-Identifier: MIT
// What tests of hypervisors measure with their guest's own instructions: a loop that loads lines it has
// flushed, and branches that no predictor has seen. Their ranges are those of kvm-unit-tests: exact counts of
// instructions and branches, at least one miss for each line flushed, some mispredictions.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "pmusim/arch/msr.h"
#include "pmusim/trap/trap.h"
#include "tests/driver_on_pmu/model_names.h"
#include "tests/support/register_instructions.h"

namespace pmusim::test::hypervisor_test {
namespace {

constexpr u64 rounds = 20;

/// Loads and flushes a line in each round, step by step: 5 instructions of which one is a branch.
void run_loop() {
  alignas(64) static std::array<u64, 8> line{};
  u64 n = rounds;
  asm volatile(
      "mov $1, %%eax\n wrmsr\n"
      "1: mov (%1), %%rax\n clflush (%1)\n nop\n dec %0\n jnz 1b\n"
      "xor %%eax, %%eax\n wrmsr\n"
      : "+r"(n)
      : "r"(line.data()), "c"(Trap::stepping_register), "d"(0)
      : "rax", "cc", "memory");
}

/// The loop's count of an event of the architectural list (SDM vol. 3), at ring 0.
u64 counted(Pmu& pmu, const CpuModel& model, u64 event) {
  pmu = Pmu(model);
  TrapOptions options;
  options.timing = TrapTiming::core;
  const auto trap = Trap::enable(pmu, std::move(options));
  EXPECT_TRUE(trap.ok()) << trap.error().message;
  if (!trap.ok()) return 0;
  wrmsr(msr::PERFEVTSEL0, event | msr::evtsel::EN | msr::evtsel::OS);
  if (model.perfmon_version >= 2) wrmsr(msr::PERF_GLOBAL_CTRL, 1);
  run_loop();
  return rdmsr(msr::PMC0);
}

class HypervisorTests : public testing::TestWithParam<std::string> {};

TEST_P(HypervisorTests, CountMissesOfFlushedLinesAndMispredicts) {
  const CpuModel model = *find_cpu_model(GetParam());
  Pmu pmu(model);
  EXPECT_EQ(counted(pmu, model, 0x00C0), 5 * rounds + 1) << "instructions";
  EXPECT_EQ(counted(pmu, model, 0x00C4), rounds) << "branches";
  EXPECT_GE(counted(pmu, model, 0x412E), rounds) << "misses of the last level";
  EXPECT_GE(counted(pmu, model, 0x4F2E), rounds) << "references to the last level";
  EXPECT_LE(counted(pmu, model, 0x00C5), rounds / 10) << "mispredicted branches";
}

INSTANTIATE_TEST_SUITE_P(Of, HypervisorTests, testing::ValuesIn(driver::model_names()), driver::identifier);

}  // namespace
}  // namespace pmusim::test::hypervisor_test

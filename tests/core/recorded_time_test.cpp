// SPDX-License-Identifier: MIT
// Time that a trace has recorded, in place of the core's own.
#include <gtest/gtest.h>

#include "core/core.h"
#include "tests/core/program.h"

namespace pmusim::recorded_time_test {
namespace {

using namespace test;

/// What retires when a block is run that took so many cycles.
std::vector<Seen> run_for(Core& core, const trace::Block& block, u32 cycles) {
  trace::BlockRun run{.block = &block, .next_ip = block.start()};
  run.cycles = cycles;
  std::vector<Seen> seen;
  core.run(run, [&](const Retirement& retirement) { seen.emplace_back(retirement); });
  return seen;
}

TEST(RecordedTime, IsSharedEvenlyByTheInstructionsOfABlock) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, std::vector<x86::Instruction>(4, nop()));
  run_for(core, block, 100);
  const std::vector<Seen> seen = run_for(core, block, 10);
  EXPECT_EQ(seen[0].cycle, 102u);
  EXPECT_EQ(seen[1].cycle, 105u);
  EXPECT_EQ(seen[2].cycle, 107u);
  EXPECT_EQ(seen[3].cycle, 110u);
  EXPECT_EQ(core.cycle(), 110u);
}

TEST(RecordedTime, MakesCyclesSlotsAndReferenceCyclesButNoLosses) {
  CpuModel model = four_wide();
  model.core.tsc_per_core_cycle_numerator = 1;
  model.core.tsc_per_core_cycle_denominator = 2;
  Core core = make_core(model);
  const trace::Block block = block_at(0x1000, {load()});  // whose code and data miss every cache
  u64 cycles = 0, slots = 0, reference = 0;
  for (const u32 took : {7u, 1000u, 1u, 0u}) {
    const Seen seen = run_for(core, block, took).front();
    EXPECT_EQ(seen[Quantity::cycles], took);
    cycles += seen[Quantity::cycles];
    slots += seen[Quantity::slots];
    reference += seen[Quantity::reference_cycles];
    EXPECT_EQ(seen.retire_latency_cycles, took);
    for (const Quantity lost : {Quantity::slots_frontend, Quantity::slots_backend, Quantity::slots_memory,
                                Quantity::stall_cycles, Quantity::recovery_cycles})
      EXPECT_EQ(seen[lost], 0u);
  }
  EXPECT_EQ(cycles, 1008u);
  EXPECT_EQ(slots, 4 * 1008u);
  EXPECT_EQ(reference, 504u);
}

}  // namespace
}  // namespace pmusim::recorded_time_test

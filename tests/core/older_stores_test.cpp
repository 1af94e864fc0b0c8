// SPDX-License-Identifier: MIT
// What loads meet among older stores, and what it costs.
#include <gtest/gtest.h>

#include "tests/core/program.h"

namespace pmusim::older_stores_test {
namespace {

using namespace test;

constexpr u64 somewhere = 0x9000;

x86::Instruction of(x86::Instruction access, u16 bytes) {
  access.memory[0].bytes = bytes;
  return access;
}

// The block after it has run often enough for everything to be where it stays.
std::vector<Seen> settled(Core& core, const trace::Block& block, const std::vector<u64>& addresses) {
  run(core, block, addresses);
  core.interrupt();  // the lines are there
  for (int n = 0; n < 40; ++n) run(core, block, addresses);
  core.interrupt();
  return run(core, block, addresses);
}

TEST(OlderStores, ALoadOfTwoStoresIsBlockedAndCosts) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, {of(store(), 4), of(store(), 4), of(load(), 8)});
  const Seen load = settled(core, block, {somewhere, somewhere + 4, somewhere})[2];
  EXPECT_TRUE(load.signals.has(Signal::store_forward_blocked));
  EXPECT_GE(load.accesses[0].latency_cycles, four_wide().core.blocked_forward_cycles);
}

TEST(OlderStores, ALoadWithinOneIsForwarded) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, {of(store(), 8), of(load(), 4)});
  const Seen load = settled(core, block, {somewhere, somewhere + 4})[1];
  EXPECT_FALSE(load.signals.has(Signal::store_forward_blocked));
  EXPECT_LE(load.accesses[0].latency_cycles, four_wide().core.forwarding_cycles + 2u);
}

TEST(OlderStores, ALoadFourKibibytesFurtherIsDelayedByAliasing) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, {store(), load()});
  const Seen aliased = settled(core, block, {somewhere, somewhere + 0x1000})[1];
  EXPECT_TRUE(aliased.signals.has(Signal::address_alias));
  const Seen another = settled(core, block, {somewhere, somewhere + 0x1040})[1];
  EXPECT_FALSE(another.signals.has(Signal::address_alias));
  EXPECT_EQ(aliased.accesses[0].latency_cycles,
            another.accesses[0].latency_cycles + four_wide().core.address_alias_cycles);
}

// A store whose address takes a while, and a load behind it.
trace::Block late_store_and_load() {
  x86::Instruction late = store();
  late.registers_read = late.address_registers = bit(1);
  std::vector<x86::Instruction> instructions(12, alu(bit(1), bit(1)));
  instructions.push_back(late);
  instructions.push_back(load(bit(2)));
  return block_at(0x1000, std::move(instructions));
}

CpuModel guessing() {
  CpuModel model = four_wide();
  model.core.disambiguation_loads = 256;
  return model;
}

TEST(OlderStores, ALoadThatNeededTheStoreItPassedClearsThePipeline) {
  Core core = make_core(guessing());
  const trace::Block block = late_store_and_load();
  settled(core, block, {somewhere, somewhere + 0x400});  // it learns that it may pass
  const Seen load = run(core, block, {somewhere, somewhere})[13];
  EXPECT_TRUE(load.signals.contains({Signal::machine_clear, Signal::memory_ordering_clear}));
  const Seen behind = run(core, block, {somewhere, somewhere})[0];
  EXPECT_GE(behind[Quantity::slots_bad_speculation], 4 * guessing().core.mispredict_penalty);
  EXPECT_EQ(behind[Quantity::slots_branch_mispredict], 0u);
}

TEST(OlderStores, ALoadThatWasWrongOnceWaitsFromThenOn) {
  Core core = make_core(guessing());
  const trace::Block block = late_store_and_load();
  settled(core, block, {somewhere, somewhere + 0x400});
  run(core, block, {somewhere, somewhere});
  for (int n = 0; n < 10; ++n)
    EXPECT_FALSE(run(core, block, {somewhere, somewhere})[13].signals.has(Signal::machine_clear)) << n;
}

TEST(OlderStores, AMachineThatKnowsItsStoresNeverClears) {
  Core core = make_core(four_wide());
  const trace::Block block = late_store_and_load();
  settled(core, block, {somewhere, somewhere + 0x400});
  EXPECT_FALSE(run(core, block, {somewhere, somewhere})[13].signals.has(Signal::machine_clear));
}

TEST(OlderStores, AStoreIntoCodeClearsThePipeline) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, {store(), nop()});
  EXPECT_TRUE(
      run(core, block, {0x1010})[0].signals.contains({Signal::machine_clear, Signal::self_modifying_clear}));
  EXPECT_FALSE(run(core, block, {0x1810})[0].signals.has(Signal::machine_clear)) << "no code there";
}

}  // namespace
}  // namespace pmusim::older_stores_test

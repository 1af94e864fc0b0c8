// SPDX-License-Identifier: MIT
// Level `memory`: what a block is summed up to, and its time beside that of the whole model.
#include "core/memory_core.h"

#include <gtest/gtest.h>

#include <random>

#include "core/core_costs.h"
#include "core/interval_core.h"
#include "tests/core/program.h"

namespace pmusim {
namespace {

using test::alu;
using test::block_at;
using test::branch;
using test::four_wide;
using test::load;
using test::store;

x86::RegisterMask draw_registers(std::mt19937_64& random) {
  return bit(random() % 8) | (random() % 2 == 0 ? bit(random() % 8) : 0);
}

trace::Block draw_block(std::mt19937_64& random) {
  std::vector<x86::Instruction> instructions;
  for (u64 left = 1 + random() % 20; left != 0; --left) {
    x86::Instruction made = random() % 3 == 0   ? load(draw_registers(random))
                            : random() % 3 == 0 ? store(draw_registers(random))
                                                : alu(draw_registers(random), draw_registers(random));
    if (made.memory_operands != 0) made.address_registers = bit(random() % 8);
    instructions.push_back(made);
  }
  return block_at(0x401000, std::move(instructions));
}

// The summary of a block against its instructions one by one, from drawn times on.
TEST(BlockFlow, IsWhatItsInstructionsDoToTimeOneByOne) {
  std::mt19937_64 random(1);
  for (const IssueOrder order : {IssueOrder::out_of_order, IssueOrder::in_order})
    for (int n = 0; n < 500; ++n) {
      CoreParameters core = four_wide().core;
      core.issue_order = order;
      const auto costs = costs_of(core);
      const Dataflow dataflow(core);
      const trace::Block block = draw_block(random);
      LoweredBlock lowered;
      Lowering{core, *costs}.lower(block, lowered);
      const BlockFlow flow = summarize(block, lowered, dataflow, *costs);

      Dataflow::State state{.dispatched = 4000, .retired = static_cast<Slots>(3900 + random() % 300)};
      for (Slots& each : state.registers) each = static_cast<Slots>(3800 + random() % 400);
      state.registers[LoweredInstruction::no_source] = 0;
      const Dataflow::State before = state;
      for (std::size_t i = 0; i < block.instructions.size(); ++i)
        dataflow.step(block.instructions[i], lowered.instructions[i], 0, state);

      const auto row = [&](std::size_t number) {
        Slots latest = before.dispatched + flow.delays[number];
        for (std::size_t i = 0; i < flow.inputs.size(); ++i)
          latest = std::max(latest,
                            before.registers[flow.inputs[i]] + flow.delays[(i + 1) * flow.rows() + number]);
        return latest;
      };
      EXPECT_EQ(state.dispatched, before.dispatched + flow.slots);
      EXPECT_EQ(state.retired, std::max(before.retired + flow.slots, row(BlockFlow::retired)));
      EXPECT_EQ(state.result, row(BlockFlow::resolved));
      for (std::size_t i = 0; i < flow.outputs.size(); ++i)
        EXPECT_EQ(state.registers[flow.outputs[i]], row(BlockFlow::first_register + i));
    }
}

/// Cycles that a loop takes on each of the two, once it is in their caches.
struct Cycles {
  double memory = 0, interval = 0;
};

Cycles cycles_of(std::vector<x86::Instruction> body, const std::vector<u64>& addresses) {
  constexpr u64 start = 0x401000, warm = 100, rounds = 5000;
  body.push_back(branch(BranchKind::direct_jump, start));
  const trace::Block block = block_at(start, std::move(body));
  const trace::BlockRun run{.block = &block, .next_ip = start, .addresses = addresses};
  const auto measure = [&](auto core) {
    for (u64 n = 0; n < warm; ++n) core.execute(run);
    const u64 since = core.cycle();
    for (u64 n = 0; n < rounds; ++n) core.execute(run);
    return static_cast<double>(core.cycle() - since) / rounds;
  };
  const trace::Contents contents{.addresses = true};
  return {measure(MemoryCore::create(four_wide(), contents).value()),
          measure(IntervalCore::create(four_wide(), contents).value())};
}

constexpr x86::RegisterMask chained = bit(0), other = bit(3);

x86::Instruction load_from(x86::RegisterMask written, x86::RegisterMask base) {
  x86::Instruction made = load(written);
  made.registers_read = made.address_registers = base;
  return made;
}

TEST(MemoryCore, AChainOfLoadsTakesTheLatencyOfTheCache) {
  const Cycles cycles =
      cycles_of({load_from(chained, chained), load_from(chained, chained)}, {0x1000, 0x2000});
  EXPECT_DOUBLE_EQ(cycles.interval, 10);
  EXPECT_DOUBLE_EQ(cycles.memory, 10);
}

TEST(MemoryCore, ACounterInMemoryTakesForwardingAndItsOperation) {
  const u64 counter = 0x1000;
  const Cycles cycles = cycles_of({load(chained), alu(chained, chained), store(chained)}, {counter, counter});
  EXPECT_GT(cycles.interval, 4);
  EXPECT_NEAR(cycles.memory, cycles.interval, 0.1);
}

TEST(MemoryCore, WhatNeedsNothingTakesItsSlots) {
  const Cycles cycles = cycles_of({alu(0, chained), alu(0, other), alu(0, chained)}, {});
  EXPECT_DOUBLE_EQ(cycles.interval, 1);
  EXPECT_DOUBLE_EQ(cycles.memory, 1);
}

// AMD's last-branch records have the address of the first of the two.
TEST(MemoryCore, ABranchIsFusedAsOnTheWholeCore) {
  CpuModel model = four_wide();
  model.core.macro_fusion = MacroFusion::nehalem;
  x86::Instruction compare = alu(chained | other, 0);
  compare.flag_writer = FlagWriter::compare;
  x86::Instruction jump = branch(BranchKind::conditional, 0x401000);
  jump.condition = ConditionGroup::equal;
  const trace::Block block = block_at(0x401000, {alu(0, chained), compare, jump});
  const trace::BlockRun run{.block = &block, .next_ip = 0x401000};
  const auto fused_lengths = [&](auto core) {
    const BlockExecution execution = core.execute(run);
    std::vector<unsigned> lengths;
    core.retire(execution, [&](const Retirement& each) { lengths.push_back(each.fused_length); });
    lengths.push_back(execution.fused_length);
    return lengths;
  };
  const std::vector<unsigned> expected{0, 0, compare.length, compare.length};
  EXPECT_EQ(fused_lengths(MemoryCore::create(model, {}).value()), expected);
  EXPECT_EQ(fused_lengths(IntervalCore::create(model, {}).value()), expected);
}

}  // namespace
}  // namespace pmusim

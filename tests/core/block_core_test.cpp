// SPDX-License-Identifier: MIT
// Cores for which a block takes the same time whenever it runs.
#include "core/block_core.h"

#include <gtest/gtest.h>

#include "tests/core/program.h"

namespace pmusim {
namespace {

using test::alu;
using test::four_wide;
using test::load;
using test::nop;

constexpr x86::RegisterMask rax = bit(0), rbx = bit(3);

trace::Block block_of(std::vector<x86::Instruction> instructions) {
  trace::Block block;
  u64 ip = 0x401000;
  for (x86::Instruction& instruction : instructions) {
    instruction.ip = ip;
    ip += instruction.length;
  }
  block.instructions = std::move(instructions);
  return block;
}

x86::Instruction jump_if(u64 target) {
  x86::Instruction made = alu(0, 0);
  made.branch = BranchKind::conditional;
  made.target = target;
  made.signals = {Signal::instruction, Signal::branch, Signal::near_branch, Signal::conditional};
  return made;
}

std::vector<Retirement> retired(const BlockCore& core, const BlockExecution& execution) {
  std::vector<Retirement> all;
  core.retire(execution, [&](const Retirement& r) { all.push_back(r); });
  return all;
}

TEST(FlatCore, RetiresAnInstructionInEveryCycle) {
  BlockCore core = BlockCore::flat(four_wide()).value();
  const trace::Block block = block_of({load(rax), alu(rax, rbx), nop()});
  const trace::BlockRun run{.block = &block, .next_ip = block.end()};
  for (u64 pass = 0; pass < 2; ++pass) {
    const std::vector<Retirement> all = retired(core, core.execute(run));
    ASSERT_EQ(all.size(), 3u);
    for (u64 n = 0; n < 3; ++n) EXPECT_EQ(all[n].cycle, 3 * pass + n + 1);
    EXPECT_TRUE(all[0].signals.has(Signal::load));
    EXPECT_TRUE(all[0].memory.empty());
    EXPECT_EQ(all[1].next_ip, all[2].ip);
  }
  EXPECT_EQ(core.cycle(), 6u);
}

TEST(FlatCore, NeverMispredicts) {
  BlockCore core = BlockCore::flat(four_wide()).value();
  const trace::Block block = block_of({nop(), jump_if(0x402000)});
  for (const u64 next : {u64{0x402000}, block.end(), u64{0x402000}, block.end()}) {
    const Retirement branch = retired(core, core.execute({.block = &block, .next_ip = next})).back();
    EXPECT_EQ(branch.taken, next == 0x402000);
    EXPECT_EQ(branch.signals.has(Signal::conditional_taken), branch.taken);
    EXPECT_FALSE(branch.mispredicted);
  }
  EXPECT_EQ(core.cycle(), 8u);
}

TEST(SimpleCore, BeginsFourInACycleAndWaitsForRegisters) {
  BlockCore core = BlockCore::simple(four_wide()).value();
  const trace::Block straight = block_of({nop(), nop(), nop(), nop(), nop()});
  EXPECT_EQ(core.execute({.block = &straight, .next_ip = straight.end()}).cycles, 2u);
  trace::Block chain = block_of({load(rax), alu(rax, rbx), alu(rbx, rbx)});
  chain.id = 1;
  const trace::BlockRun run{.block = &chain, .next_ip = chain.end()};
  const BlockExecution execution = core.execute(run);
  const std::vector<Retirement> all = retired(core, execution);
  EXPECT_EQ(all[0].cycle - execution.since, 5u) << "the latency of the first cache";
  EXPECT_EQ(all[1].cycle - execution.since, 6u);
  EXPECT_EQ(all[2].cycle - execution.since, 7u);
}

TEST(SimpleCore, BeginsTheNextBlockLaterAfterAMispredict) {
  CpuModel model = four_wide();
  model.core.predictor = "bimodal";
  BlockCore core = BlockCore::simple(model).value();
  const trace::Block block = block_of({jump_if(0x402000)});
  const trace::BlockRun taken{.block = &block, .next_ip = 0x402000},
      not_taken{.block = &block, .next_ip = block.end()};
  for (int n = 0; n < 8; ++n) core.execute(taken);
  EXPECT_EQ(core.execute(taken).cycles, 1u) << "learnt";
  const BlockExecution wrong = core.execute(not_taken);
  EXPECT_EQ(wrong.prediction, Prediction::wrong);
  EXPECT_TRUE(retired(core, wrong).back().signals.has(Signal::mispredicted_conditional_not_taken));
  EXPECT_EQ(wrong.cycles, 1u);
  EXPECT_EQ(core.execute(taken).cycles, 1u + model.core.mispredict_penalty);
}

TEST(SimpleCore, GivesExecutionsOfOneKindTheSameSignals) {
  BlockCore core = BlockCore::simple(four_wide()).value();
  const trace::Block block = block_of({load(rax), jump_if(0x402000)});
  std::vector<std::optional<SignalSet>> signals(8);
  for (u32 n = 0; n < 200; ++n) {
    const trace::BlockRun run{.block = &block, .next_ip = n % 7 == 0 || n % 5 == 0 ? block.end() : 0x402000};
    const BlockExecution execution = core.execute(run);
    std::optional<SignalSet>& known = signals.at(execution.kind);
    const SignalSet now = retired(core, execution).back().signals;
    EXPECT_EQ(known.value_or(now), now);
    known = now;
  }
}

}  // namespace
}  // namespace pmusim

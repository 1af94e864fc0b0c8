// SPDX-License-Identifier: MIT
#include "core/core.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/core/program.h"

namespace pmusim::core_test {
namespace {

using namespace test;

// Runs a block once, so that its code and what it touches are in the caches, and waits until all is done.
trace::Block warmed(Core& core, trace::Block block, const std::vector<u64>& addresses) {
  run(core, block, addresses);
  core.interrupt();
  return block;
}

TEST(Core, NopsRetireAtTheWidthOfTheMachine) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, std::vector<x86::Instruction>(40, nop()));
  run(core, block);
  const u64 before = core.cycle();
  run(core, block);
  EXPECT_EQ(core.cycle() - before, 10u);
}

TEST(Core, TheFirstFetchWaitsForThePageWalkAndForMemory) {
  Core core = make_core(four_wide());
  const std::vector<Seen> seen = run(core, block_at(0x1000, {nop()}));
  EXPECT_EQ(seen[0].cycle, 1 + 7 + 30 + 200u);
  EXPECT_TRUE(seen[0].signals.contains({Signal::l1i_miss, Signal::l2i_miss, Signal::stlb_instruction_miss}));
  EXPECT_EQ(seen[0][Quantity::slots_frontend], 4 * (7 + 30 + 200u));
}

TEST(Core, AChainOfAdditionsTakesACycleEach) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, std::vector<x86::Instruction>(12, alu(bit(0), bit(0))));
  run(core, block);
  const u64 before = core.cycle();
  run(core, block);
  EXPECT_EQ(core.cycle() - before, 12u);
}

TEST(Core, ALoadThatMissesEverythingRetiresAfterWalkAndMemory) {
  Core core = make_core(four_wide());
  const trace::Block block = warmed(core, block_at(0x1000, {load()}), {0x9000});
  const std::vector<Seen> seen = run(core, block, {0x50000});
  EXPECT_EQ(seen[0].accesses[0].level, CacheLevel::memory);
  EXPECT_EQ(seen[0].accesses[0].tlb, TlbLevel::walk);
  EXPECT_EQ(seen[0].accesses[0].latency_cycles, 7 + 30 + 200u);
  EXPECT_EQ(seen[0].latency_cycles, 7 + 30 + 200 - 1u);
  EXPECT_TRUE(seen[0].signals.contains({Signal::load_dram, Signal::load_l3_miss, Signal::load_stlb_miss}));
  EXPECT_EQ(seen[0][Quantity::page_walks_load], 1u);
  EXPECT_EQ(seen[0][Quantity::llc_misses], 1u);
  EXPECT_GT(seen[0][Quantity::stall_cycles_l3_miss], 200u);
}

TEST(Core, ASecondLoadOfALineUnderWayHitsTheFillBuffer) {
  Core core = make_core(four_wide());
  const trace::Block block = warmed(core, block_at(0x1000, {load(), load()}), {0x9000, 0x9000});
  const std::vector<Seen> seen = run(core, block, {0x50000, 0x50008});
  EXPECT_EQ(seen[1].accesses[0].level, CacheLevel::fill_buffer);
  EXPECT_TRUE(seen[1].signals.has(Signal::load_fb_hit));
  EXPECT_FALSE(seen[1].signals.has(Signal::load_l1_miss));
  EXPECT_EQ(seen[1].cycle, seen[0].cycle);
  core.interrupt();
  EXPECT_EQ(run(core, block, {0x50000, 0x50008})[1].accesses[0].level, CacheLevel::l1);
}

TEST(Core, IndependentMissesOverlapAndDependentOnesDoNot) {
  CpuModel model = four_wide();
  x86::Instruction chained = load(bit(0));
  chained.registers_read = bit(0);
  chained.memory[0].base = 0;
  chained.address_registers = bit(0);
  const std::vector<u64> far = {0x100000, 0x200000, 0x300000, 0x400000};
  const auto cycles = [&](const x86::Instruction& instruction) {
    Core core = make_core(model);
    const trace::Block block = warmed(core, block_at(0x1000, {4, instruction}), {0, 0, 0, 0});
    const u64 before = core.cycle();
    run(core, block, far);
    return core.cycle() - before;
  };
  EXPECT_LT(cycles(load()), 260u);
  EXPECT_GT(cycles(chained), 4 * 230u);
}

TEST(Core, AVariableInMemoryIsADependencyChain) {
  Core core = make_core(four_wide());
  x86::Instruction increment = store();
  increment.memory[0].load = true;
  increment.form = InstructionForm::alu;
  const trace::Block block = block_at(0x1000, std::vector<x86::Instruction>(10, increment));
  const std::vector<u64> same(10, 0x9000);
  run(core, block, same);
  const u64 before = core.cycle();
  run(core, block, same);
  EXPECT_EQ(core.cycle() - before, 10 * (5 + 1u));
}

TEST(Core, AMispredictCostsThePenalty) {
  Core core = make_core(four_wide());
  const trace::Block jump = block_at(0x1000, {nop(), nop(), nop(), branch(BranchKind::conditional, 0x1020)});
  const trace::Block after = block_at(0x1020, {nop()});
  run(core, after);
  for (int n = 0; n < 40; ++n) run(core, jump);  // fully biased to not taken
  const std::vector<Seen> wrong = run(core, jump, {}, 0x1020);
  const std::vector<Seen> next = run(core, after);
  EXPECT_TRUE(wrong[3].mispredicted);
  EXPECT_TRUE(wrong[3].taken);
  EXPECT_TRUE(wrong[3].signals.contains({Signal::mispredicted, Signal::mispredicted_conditional_taken}));
  EXPECT_EQ(next[0].cycle - wrong[3].cycle, 1 + 16u);
  EXPECT_EQ(next[0][Quantity::recovery_cycles], 16u);
  EXPECT_GE(next[0][Quantity::slots_branch_mispredict], 4 * 16u);
  EXPECT_EQ(next[0][Quantity::slots_backend], 0u);
}

TEST(Core, AReturnGoesWhereItsCallCameFrom) {
  Core core = make_core(four_wide());
  const trace::Block call = block_at(0x1000, {branch(BranchKind::direct_call, 0x2000)});
  const trace::Block ret = block_at(0x2000, {branch(BranchKind::near_return)});
  run(core, call, {}, 0x2000);
  EXPECT_FALSE(run(core, ret, {}, 0x1002)[0].mispredicted);
  run(core, call, {}, 0x2000);
  const std::vector<Seen> elsewhere = run(core, ret, {}, 0x3000);
  EXPECT_TRUE(elsewhere[0].signals.contains({Signal::mispredicted, Signal::mispredicted_return}));
}

TEST(Core, ASyscallIsNoTakenBranchOfUserMode) {
  Core core = make_core(four_wide());
  x86::Instruction syscall = branch(BranchKind::syscall);
  const std::vector<Seen> seen = run(core, block_at(0x1000, {syscall}));
  EXPECT_FALSE(seen[0].taken);
  EXPECT_FALSE(seen[0].mispredicted);
  EXPECT_EQ(seen[0].cpl_after, Cpl::user);
}

TEST(Core, AnInterruptFlushesThePipelineAndRetiresNothing) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, {nop()});
  run(core, block);
  const u64 before = core.cycle();
  core.interrupt();
  EXPECT_EQ(core.cycle(), before);
  const std::vector<Seen> seen = run(core, block);
  EXPECT_EQ(seen[0].cycle - before, 1 + 16u);
  EXPECT_GT(seen[0][Quantity::slots_bad_speculation], 0u);
  EXPECT_EQ(seen[0][Quantity::slots_branch_mispredict], 0u);
}

TEST(Core, WithoutAddressesLoadsHitAndNothingIsReported) {
  Core core = make_core(four_wide());
  const std::vector<Seen> seen = run(core, block_at(0x1000, {load(), store(), nop()}));
  EXPECT_TRUE(seen[0].signals.has(Signal::load_l1_hit));
  EXPECT_TRUE(seen[1].signals.has(Signal::store_l1_hit));
  EXPECT_TRUE(seen[0].accesses.empty());
}

TEST(Core, ARepeatedStoreIsOneRetirementThatTouchesEveryLine) {
  Core core = make_core(four_wide());
  x86::Instruction fill = store();
  fill.rep = true;
  fill.form = InstructionForm::repeated_string;
  const trace::Block block = block_at(0x1000, {fill});
  const std::vector<Seen> seen = run(core, block, {0x10000}, 0, {64});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].accesses[0].bytes, 512u);
  EXPECT_EQ(seen[0][Quantity::l2_requests], 8u + 1u);  // and the line of code
  EXPECT_TRUE(run(core, block, {0x10000}, 0, {0})[0].accesses.empty());
}

TEST(Core, OnlyARepeatedStoreWaitsUntilAllIsWritten) {
  Core core = make_core(four_wide());
  x86::Instruction fill = store();
  const trace::Block plain = warmed(core, block_at(0x1000, {fill}), {0x9000});
  EXPECT_EQ(run(core, plain, {0x20000})[0].latency_cycles, 0u);
  core.interrupt();
  fill.rep = true;
  const std::vector<Seen> seen = run(core, block_at(0x1000, {fill}), {0x30000}, 0, {8 * 20});
  EXPECT_GE(seen[0].latency_cycles, 2 * 200u);  // 20 lines through 10 fill buffers
}

TEST(Core, EveryPresetMakesACore) {
  for (const CpuModel& model : cpu_models()) {
    const auto core = Core::create(model);
    EXPECT_TRUE(core.ok()) << model.name << ": " << (core.ok() ? "" : core.error().message);
  }
}

TEST(Core, AnUnknownPredictorIsRefusedWithTheNamesThereAre) {
  CpuModel model = four_wide();
  model.core.predictor = "oracle";
  const auto core = Core::create(model);
  ASSERT_FALSE(core.ok());
  EXPECT_NE(core.error().message.find("'oracle'"), std::string::npos);
  EXPECT_NE(core.error().message.find("tage"), std::string::npos);
}

TEST(Core, ParametersThatMakeNoMachineAreRefusedByName) {
  const auto message = [](auto change) {
    CpuModel model = four_wide();
    change(model.core);
    const auto core = Core::create(model);
    return core.ok() ? std::string() : core.error().message;
  };
  EXPECT_NE(message([](auto& p) { p.issue_width = 0; }).find("issue_width"), std::string::npos);
  EXPECT_NE(message([](auto& p) { p.l2.ways = 7; }).find("l2"), std::string::npos);
  EXPECT_NE(message([](auto& p) { p.dtlb_entries = 63; }).find("dtlb_entries"), std::string::npos);
  EXPECT_NE(message([](auto& p) { p.l1i.line_bytes = 32; }).find("l1i"), std::string::npos);
  EXPECT_EQ(message([](auto&) {}), "");
}

TEST(Core, ALoadAfterClflushMissesToMemory) {
  Core core = make_core(four_wide());
  x86::Instruction clflush = nop();
  clflush.flushes_line = true;
  clflush.flushed_line.base = static_cast<u8>(Gpr::rax);
  const trace::Block block = block_at(0x1000, {load(), clflush, load()});
  const std::array<u64, 2> addresses{0x5000, 0x5000};
  std::array<Registers, 3> registers{};
  for (Registers& r : registers) r[Gpr::rax] = 0x5008;
  trace::BlockRun block_run;
  block_run.block = &block;
  block_run.next_ip = block.instructions.back().end();
  block_run.addresses = addresses;
  std::vector<bool> from_memory;
  for (int n = 0; n < 3; ++n) {
    if (n == 2) block_run.registers = registers;  // only where registers are known is the line known
    core.run(block_run, [&](const Retirement& r) {
      if (r.signals.has(Signal::load)) from_memory.push_back(r.signals.has(Signal::load_l3_miss));
    });
  }
  EXPECT_EQ(from_memory, (std::vector<bool>{true, false, false, false, false, true}));
}

TEST(Core, ClflushOfTheLineThatIsExecutingMakesFetchAskAgain) {
  Core core = make_core(four_wide());
  x86::Instruction clflush = nop();
  clflush.flushes_line = true;
  clflush.flushed_line.base = static_cast<u8>(Gpr::rax);
  const trace::Block block = block_at(0x1000, {nop(), clflush, nop(), nop()});  // all in one line
  std::array<Registers, 4> registers{};
  trace::BlockRun block_run;
  block_run.block = &block;
  block_run.next_ip = 0x1000;
  block_run.registers = registers;
  const auto misses = [&](u64 flushed) {
    for (Registers& r : registers) r[Gpr::rax] = flushed;
    std::vector<bool> missed;
    core.run(block_run, [&](const Retirement& r) { missed.push_back(r.signals.has(Signal::l1i_miss)); });
    return missed;
  };
  EXPECT_EQ(misses(0x5000), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(misses(0x5000), (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(misses(0x1038), (std::vector<bool>{false, false, true, false}));
}

TEST(Core, AnIndirectJumpIsMispredictedAfterAPredictionBarrier) {
  Core core = make_core(four_wide());
  const trace::Block block = block_at(0x1000, {branch(BranchKind::indirect_jump)});
  const auto mispredicted = [&] { return run(core, block, {}, 0x1000).front().mispredicted; };
  for (int n = 0; n < 50; ++n) static_cast<void>(mispredicted());
  ASSERT_FALSE(mispredicted());
  core.obey_prediction_barriers(1);
  EXPECT_TRUE(mispredicted());
}

}  // namespace
}  // namespace pmusim::core_test

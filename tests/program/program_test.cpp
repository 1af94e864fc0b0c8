// SPDX-License-Identifier: MIT
// What each piece of a synthetic program counts on a Pmu, as docs/library.md says.
#include "pmusim/program/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pmusim/pmu/pmu.h"

namespace pmusim::program {
namespace {

/// The vendor's event select by the name in the model's own table.
u64 select_of(const CpuModel& model, std::string_view name) {
  for (const EventDefinition& event : model.events)
    if (event.name == name)
      return event.event | (event.umask & u64{0xFF}) << 8 | (event.umask >> 8 & u64{0xFF}) << 40;
  ADD_FAILURE() << model.name << " has no " << name;
  return 0;
}

void write(Pmu& pmu, u32 address, u64 value) { EXPECT_EQ(pmu.wrmsr(address, value), Fault::none); }

/// What counter 0 has counted of an event during a program.
u64 counted(const CpuModel& model, u64 select, u64 rings, const Program& program) {
  Pmu pmu(model);
  write(pmu, msr::PERFEVTSEL0, msr::evtsel::EN | rings | select);
  write(pmu, msr::PERF_GLOBAL_CTRL, 1);
  play(program, {}, [&](const Retirement& r) { pmu.retire(r); });
  return pmu.rdmsr(msr::PMC0).value();
}

class OnModel : public testing::TestWithParam<const char*> {
 protected:
  CpuModel model = *find_cpu_model(GetParam());
  u64 user(std::string_view event, const Program& program) const {
    return counted(model, select_of(model, event), msr::evtsel::USR, program);
  }
  u64 architectural(u64 select, u64 rings, const Program& program) const {
    return counted(model, select, rings, program);
  }
  u64 instructions(const Program& program) const { return architectural(0xC0, msr::evtsel::USR, program); }
  u64 branches(const Program& program) const { return architectural(0xC4, msr::evtsel::USR, program); }
  u64 mispredicts(const Program& program) const { return architectural(0xC5, msr::evtsel::USR, program); }
};

TEST_P(OnModel, PlainInstructionsAreInstructionsAndCycles) {
  const Program program = Program().instructions(1000);
  EXPECT_EQ(instructions(program), 1000u);
  EXPECT_EQ(branches(program), 0u);
  EXPECT_EQ(architectural(0x3C, msr::evtsel::USR, program), 1000u);
}

TEST_P(OnModel, ALoopHasABranchForEachIteration) {
  const Program program = Program().loop(10, Program().instructions(3), LoopExit::mispredicted);
  EXPECT_EQ(instructions(program), 40u);
  EXPECT_EQ(branches(program), 10u);
  EXPECT_EQ(user("BR_INST_RETIRED.NEAR_TAKEN", program), 9u);
  EXPECT_EQ(mispredicts(program), 1u);
}

TEST_P(OnModel, LoopsMultiply) {
  const Program inner = Program().loop(3, Program().instructions(1));
  const Program program = Program().loop(5, inner);
  EXPECT_EQ(instructions(program), 5u * (3 * 2 + 1));
  EXPECT_EQ(branches(program), 5u * (3 + 1));
  EXPECT_EQ(user("BR_INST_RETIRED.NEAR_TAKEN", program), 5u * 2 + 4);
  EXPECT_EQ(instructions(Program().loop(0, inner)), 0u);
}

TEST_P(OnModel, ABranchFollowsItsOutcomesAndLeavesTheBodyOut) {
  const Program program = Program().loop(8, Program().branch_around("TTNn", Program().instructions(2)));
  EXPECT_EQ(instructions(program), 8u + 4 * 2 + 8);  // branches, bodies, ends of the loop
  EXPECT_EQ(branches(program), 16u);
  EXPECT_EQ(user("BR_INST_RETIRED.NEAR_TAKEN", program), 4u + 7);
  EXPECT_EQ(mispredicts(program), 2u);
}

TEST_P(OnModel, AMispredictCostsCycles) {
  const Program program = Program().branch_around("t", {}).instructions(1);
  EXPECT_EQ(architectural(0x3C, msr::evtsel::USR, program), 2u + mispredict_cycles);
}

TEST_P(OnModel, ACallIsTwoBranches) {
  const Program program = Program().loop(4, Program().call(Program().instructions(5)).jump());
  EXPECT_EQ(instructions(program), 4u * (2 + 5 + 1 + 1));
  EXPECT_EQ(branches(program), 4u * 4);
  EXPECT_EQ(user("BR_INST_RETIRED.NEAR_CALL", program), 4u);
  EXPECT_EQ(user("BR_INST_RETIRED.NEAR_RETURN", program), 4u);
  EXPECT_EQ(user("BR_INST_RETIRED.NEAR_TAKEN", program), 4u * 3 + 3);
}

TEST_P(OnModel, ASystemCallRunsAtRing0) {
  const Program program = Program().instructions(2).system_call(Program().instructions(7)).instructions(1);
  EXPECT_EQ(instructions(program), 4u);
  EXPECT_EQ(architectural(0xC0, msr::evtsel::OS, program), 8u);
  EXPECT_EQ(counted(model, select_of(model, "BR_INST_RETIRED.FAR_BRANCH"), msr::evtsel::USR | msr::evtsel::OS,
                    program),
            2u);
}

TEST_P(OnModel, LoadsFindTheirDataInTheGivenLevel) {
  const Program program = Program()
                              .load({.address = 0x1000, .level = CacheLevel::l1})
                              .loop(3, Program().load({.address = 0x2000, .level = CacheLevel::l2}))
                              .loop(5, Program().load({.address = 0x3000, .level = CacheLevel::l3}))
                              .store({.address = 0x4000});
  EXPECT_EQ(user("MEM_LOAD_RETIRED.L1_HIT", program), 1u);
  EXPECT_EQ(user("MEM_LOAD_RETIRED.L1_MISS", program), 8u);
  EXPECT_EQ(user("MEM_LOAD_RETIRED.L2_HIT", program), 3u);
  EXPECT_EQ(user("MEM_LOAD_RETIRED.L3_HIT", program), 5u);
  EXPECT_EQ(user("MEM_INST_RETIRED.ALL_STORES", program), 1u);
}

TEST_P(OnModel, AFlushedLineIsMissedOnce) {
  const Program program =
      Program().loop(10, Program().load({.address = 0x1000}).load({.address = 0x1008}).flush(0x1030));
  EXPECT_EQ(instructions(program), 40u);
  EXPECT_EQ(user("MEM_LOAD_RETIRED.L1_MISS", program), 10u);
  EXPECT_EQ(user("MEM_LOAD_RETIRED.L1_HIT", program), 10u);
  EXPECT_EQ(architectural(0x3C, msr::evtsel::USR, program), 10u * (220 + 5 + 1 + 1));
}

TEST_P(OnModel, AStrideWalksThroughMemory) {  // eight loads to a line
  const Program program = Program().loop(64, Program().load({.address = 0x1000, .stride_bytes = 8}));
  EXPECT_EQ(user("MEM_LOAD_RETIRED.L1_MISS", program), 8u);
  EXPECT_EQ(user("MEM_LOAD_RETIRED.L1_HIT", program), 56u);
}

TEST_P(OnModel, ALoadAcrossLinesIsSplit) {
  EXPECT_EQ(user("MEM_INST_RETIRED.SPLIT_LOADS", Program().load({.address = 0x103C})), 1u);
}

INSTANTIATE_TEST_SUITE_P(Models, OnModel, testing::Values("skylake", "icelake", "goldencove", "redwoodcove"),
                         [](const auto& entry) { return std::string(entry.param); });

std::vector<u64> addresses_executed(const Program& program) {
  std::vector<u64> ips;
  play(program, {.ip = 0x1000}, [&](const Retirement& r) { ips.push_back(r.ip); });
  return ips;
}

TEST(Layout, PutsFunctionsBehindTheProgram) {
  const Program program = Program().instructions(1).call(Program().instructions(1)).instructions(1);
  EXPECT_EQ(addresses_executed(program), (std::vector<u64>{0x1000, 0x1004, 0x1010, 0x1014, 0x1008}));
  EXPECT_EQ(program.size(), 5u);
}

TEST(Layout, PutsTheKernelAtTheTop) {
  const Program program = Program().system_call(Program().call(Program().instructions(1)));
  for (const u64 ip : addresses_executed(program)) EXPECT_TRUE(ip == 0x1000 || ip >> 63 == 1) << ip;
}

TEST(Player, EachInstructionGoesOnWhereTheOneBeforeItLed) {
  const Program body = Program().branch_around("TnN", Program().instructions(2)).call(Program().jump());
  const Program program = Program().loop(7, body).system_call(body);
  u64 next_ip = 0x401000, last_cycle = 0;
  play(program, {}, [&](const Retirement& r) {
    EXPECT_EQ(r.ip, next_ip);
    EXPECT_GT(r.cycle, last_cycle);
    EXPECT_TRUE(r.taken || r.next_ip == r.ip + r.length);
    next_ip = r.next_ip;
    last_cycle = r.cycle;
  });
  EXPECT_EQ(next_ip, Player(program).end_ip());
}

TEST(Player, AnEmptyProgramIsOver) { EXPECT_EQ(Player(Program()).next(), nullptr); }

}  // namespace
}  // namespace pmusim::program

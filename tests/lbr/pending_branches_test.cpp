// SPDX-License-Identifier: MIT
// Branches that an LBR takes in late leave what they leave one by one.
#include "lbr/pending_branches.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/lbr/lbr_machine.h"

namespace pmusim::test {
namespace {

class PendingBranchesRace : public testing::TestWithParam<u64> {
 protected:
  u64 below(u64 n) { return random_() % n; }

  CpuModel any_model() {
    CpuModel models[] = {nehalem(), haswell(), skylake(), goldmont_plus(), lion_cove(), four_slots()};
    CpuModel model = models[below(std::size(models))];
    model.policies.lbr_callstack_pop_clears = static_cast<u32>(below(2));
    model.policies.lbr_zero_call_recorded = static_cast<u32>(below(2));
    return model;
  }
  u64 any_filter(const CpuModel& model) {
    const bool call_stack = below(3) == 0;
    if (model.has_arch_lbr()) return call_stack ? 0x18000F : (random_() & 0x7F0006) | u64{below(8) != 0};
    return call_stack && model.lbr.call_stack ? 0x3C4 : random_() & (below(2) == 0 ? 0x1FF : 0x101);
  }
  /// Kinds as programs have them, now and then one that an LBR does more with.
  Branch any_branch() {
    cycle_ += below(10) == 0 ? below(200'000) : below(30);
    const u64 kind = below(30) == 0 ? 1 + below(15) : 1 + below(6);
    return {.from = 1 + below(1000),
            .to = 0x2000 + below(1000),
            .cycle = cycle_,
            .kind = static_cast<BranchKind>(kind),
            .mispredicted = below(5) == 0,
            .zero_length_call = static_cast<BranchKind>(kind) == BranchKind::direct_call && below(20) == 0};
  }

  std::mt19937_64 random_{GetParam()};
  u64 cycle_ = 1;
};

TEST_P(PendingBranchesRace, LeaveWhatEachOfThemLeaves) {
  const CpuModel model = any_model();
  LbrMachine late(model), one_by_one(model);
  PendingBranches pending;
  for (unsigned run = 0; run < 60; ++run) {
    const u64 filter = any_filter(model);
    for (LbrMachine* machine : {&late, &one_by_one})
      ASSERT_EQ(machine->wrmsr(model.has_arch_lbr() ? msr::ARCH_LBR_CTL : msr::LBR_SELECT, filter),
                Fault::none);
    const LbrGate gate = below(6) == 0 ? LbrGate::closed : LbrGate::open;
    pending.begin(late.stack, gate);
    for (u64 n = below(2) == 0 ? below(10) : below(1000); n != 0; --n) {
      const Branch branch = any_branch();
      const bool taken = branch.kind != BranchKind::conditional || below(2) == 0;
      if (pending.any_wanted() && !pending.add(branch, taken)) pending.record_at_once(branch, late.stack);
      if (taken) one_by_one.stack.record(branch, gate);
    }
    pending.record_in(late.stack);
    ASSERT_EQ(state_of(late), state_of(one_by_one)) << "run " << run << ", filter " << filter;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PendingBranchesRace, testing::Range(u64{0}, u64{50}));

TEST(PendingBranches, OfAClosedGateNoneIsWanted) {
  LbrMachine machine(skylake());
  PendingBranches pending;
  pending.begin(machine.stack, LbrGate::closed);
  EXPECT_FALSE(pending.any_wanted());
  pending.begin(machine.stack, LbrGate::open);
  EXPECT_TRUE(pending.any_wanted());
}

}  // namespace
}  // namespace pmusim::test

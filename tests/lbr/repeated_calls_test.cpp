// SPDX-License-Identifier: MIT
// A block that is executed again and again in call-stack mode leaves what its branches leave one by one.
#include <gtest/gtest.h>

#include <random>

#include "tests/lbr/lbr_machine.h"

namespace pmusim::test {
namespace {

class RepeatedCalls : public testing::TestWithParam<u64> {
 protected:
  u64 below(u64 n) { return random_() % n; }

  CpuModel any_model() {
    CpuModel model = below(2) == 0 ? lion_cove() : below(2) == 0 ? skylake() : four_slots();
    model.policies.lbr_callstack_underflow = static_cast<u32>(below(2));
    model.policies.lbr_callstack_pop_clears = static_cast<u32>(below(2));
    return model;
  }
  /// Calls and returns within 40 cycles, and now and then a branch of another kind.
  std::vector<Branch> any_block() {
    std::vector<Branch> block(1 + below(8));
    u64 cycle = 0;
    const u64 calls_in_eight = 1 + below(7);
    for (Branch& branch : block) {
      branch.kind = below(8) < calls_in_eight ? BranchKind::direct_call : BranchKind::near_return;
      if (below(20) == 0) branch.kind = BranchKind::interrupt;
      branch.from = 0x1000 + below(4), branch.to = 0x2000 + below(4);
      branch.cycle = cycle += below(5);
    }
    return block;
  }
  std::mt19937_64 random_{GetParam()};
};

void use_call_stack(LbrMachine& machine) {
  if (machine.model.has_arch_lbr()) {
    ASSERT_EQ(machine.wrmsr(msr::ARCH_LBR_CTL, 0x18000F), Fault::none);
  } else {
    ASSERT_EQ(machine.wrmsr(msr::LBR_SELECT, 0x3C4), Fault::none);
  }
}

TEST_P(RepeatedCalls, LeaveWhatEachOfThemLeaves) {
  const CpuModel model = any_model();
  LbrMachine at_once(model), one_by_one(model);
  use_call_stack(at_once), use_call_stack(one_by_one);
  u64 start = 0;
  for (unsigned run = 0; run < 40; ++run) {
    const std::vector<Branch> block = any_block();
    const u64 times = 1 + below(300), stride = 40 + below(3);
    at_once.stack.record_repeated(block, start, times, stride, LbrGate::open);
    for (u64 n = 0; n < times; ++n) {
      for (Branch branch : block) {
        branch.cycle += start + n * stride;
        one_by_one.stack.record(branch, LbrGate::open);
      }
    }
    ASSERT_EQ(state_of(at_once), state_of(one_by_one)) << "run " << run << ", " << times << " times";
    start += times * stride + below(100);
  }
}

TEST_P(RepeatedCalls, TakeNoLongerTheMoreThereAre) {
  LbrMachine machine(any_model());
  use_call_stack(machine);
  machine.stack.record_repeated(any_block(), 0, u64{1} << 50, 40, LbrGate::open);
  EXPECT_LE(machine.sources().size(), machine.stack.depth());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RepeatedCalls, testing::Range(u64{0}, u64{25}));

}  // namespace
}  // namespace pmusim::test

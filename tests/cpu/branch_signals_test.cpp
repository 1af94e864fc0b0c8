// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "pmusim/cpu/retirement.h"

namespace pmusim {
namespace {

TEST(BranchSignals, ANotTakenConditionalBranchIsNoTakenOne) {
  const SignalSet signals = outcome_signals(BranchKind::conditional, {.mispredicted = true});
  EXPECT_TRUE(signals.has(Signal::conditional_not_taken));
  EXPECT_TRUE(signals.has(Signal::mispredicted_conditional_not_taken));
  EXPECT_FALSE(signals.has(Signal::near_taken));
  EXPECT_FALSE(signals.has(Signal::mispredicted_near_taken));
}

TEST(BranchSignals,
     AMispredictedReturnIsNoMispredictedIndirect) {  // BR_MISP_RETIRED.INDIRECT leaves returns out
  EXPECT_TRUE(branch_signals(BranchKind::near_return).has(Signal::near_return));
  const SignalSet signals = outcome_signals(BranchKind::near_return, {.taken = true, .mispredicted = true});
  EXPECT_TRUE(signals.has(Signal::mispredicted_return));
  EXPECT_FALSE(signals.has(Signal::mispredicted_indirect));
}

TEST(BranchSignals, FarTransfersAreTakenButNoNearBranches) {
  EXPECT_TRUE(branch_signals(BranchKind::syscall).has(Signal::far_branch));
  EXPECT_TRUE(outcome_signals(BranchKind::syscall, {.taken = true}).empty());
}

}  // namespace
}  // namespace pmusim

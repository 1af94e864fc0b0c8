// SPDX-License-Identifier: MIT
// Lines of branch stacks that never ran: what bounds them is an interrupt, never the LBR by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "branch_profile.h"
#include "command.h"

namespace pmusim::test {

namespace {

/// Branches that leave the straight line whenever they are executed. System calls are none: what comes back
/// from the kernel, which is not recorded, goes on behind them.
std::set<u64> unconditional_branches(const std::string& trace) {
  std::set<u64> places;
  for (const ExecutedBranch& b : executed_branches(trace, "icelake"))
    if (is_near_branch(b.kind) && b.kind != BranchKind::conditional) places.insert(b.ip);
  return places;
}

bool same(const perf::BranchEntry& a, const perf::BranchEntry& b) { return a.from == b.from && a.to == b.to; }

/// How many entries of `now` came after those of `before`.
std::size_t new_entries(const BranchSample& before, const BranchSample& now) {
  const auto& old = before.branches;
  for (std::size_t n = 0; n < now.branches.size(); ++n) {
    const auto overlap = static_cast<std::ptrdiff_t>(std::min(now.branches.size() - n, old.size()));
    if (std::equal(old.begin(), old.begin() + overlap, now.branches.begin() + static_cast<std::ptrdiff_t>(n),
                   same))
      return n;
  }
  return now.branches.size();
}

struct LinesThroughBranches {
  u64 at_interrupts = 0, elsewhere = 0;
};
LinesThroughBranches lines_through_branches(const std::string& trace,
                                            const std::vector<std::string>& options) {
  const std::set<u64> unconditional = unconditional_branches(trace);
  LinesThroughBranches found;
  std::set<std::size_t> interrupts;  // between this entry of the stack and the newer one
  const std::vector<BranchSample> samples = record_branches(trace, options);
  for (std::size_t s = 1; s < samples.size(); ++s) {
    const std::size_t added = new_entries(samples[s - 1], samples[s]);
    std::set<std::size_t> moved{added};
    for (const std::size_t place : interrupts) moved.insert(place + added);
    interrupts = std::move(moved);
    const auto& stack = samples[s].branches;
    for (std::size_t i = 0; i + 1 < stack.size(); ++i) {
      const auto next = unconditional.lower_bound(stack[i + 1].to);
      if (next == unconditional.end() || *next >= stack[i].from) continue;
      ++(interrupts.contains(i + 1) ? found.at_interrupts : found.elsewhere);
    }
  }
  return found;
}

TEST(FrozenBranches, ALineThroughAJumpLiesWhereAnInterruptWas) {
  const LinesThroughBranches found =
      lines_through_branches(recorded("branches", {"400"}), {"-e", "cycles:u", "-c", "31", "-b"});
  EXPECT_GT(found.at_interrupts, 100u) << "what ran between freeze and interrupt is missing";
  EXPECT_EQ(found.elsewhere, 0u);
}

TEST(FrozenBranches, StacksOfPebsRecordsHaveNoSuchLine) {
  const LinesThroughBranches found =
      lines_through_branches(recorded("branches", {"400"}), {"-e", "cycles:upp", "-c", "31", "-b"});
  EXPECT_EQ(found.at_interrupts + found.elsewhere, 0u);
}

}  // namespace

}  // namespace pmusim::test

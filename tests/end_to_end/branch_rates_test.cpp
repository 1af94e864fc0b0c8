// SPDX-License-Identifier: MIT
// What branch stacks say of each conditional branch of a program, held against the trace.
#include <gtest/gtest.h>

#include <map>

#include "branch_profile.h"
#include "command.h"

namespace pmusim::test {
namespace {

/// How often a conditional branch was seen taken, not taken, and taken against the prediction.
struct Outcomes {
  u64 taken = 0, not_taken = 0, mispredicted = 0;
  u64 executed() const { return taken + not_taken; }
  double taken_rate() const { return double(taken) / double(executed()); }
  /// Of its taken executions: a branch that is not taken leaves no record.
  double mispredict_rate() const { return double(mispredicted) / double(taken); }
};
using Profile = std::map<u64, Outcomes>;  ///< by address

Profile exact_profile(const std::string& trace, const std::string& model) {
  Profile profile;
  for (const ExecutedBranch& b : executed_branches(trace, model)) {
    if (b.kind != BranchKind::conditional) continue;
    Outcomes& outcomes = profile[b.ip];
    ++(b.taken ? outcomes.taken : outcomes.not_taken);
    outcomes.mispredicted += b.taken && b.mispredicted;
  }
  return profile;
}

/// From stacks alone, as AutoFDO and perf annotate do it: what lies between one branch's target and the next
/// branch's source was executed, and its conditional branches fell through.
void add_stack(const std::vector<perf::BranchEntry>& stack, const Profile& exact, Profile& sampled) {
  for (std::size_t age = 0; age + 1 < stack.size(); ++age) {
    const perf::BranchEntry& branch = stack[age];
    if (exact.contains(branch.from)) {
      Outcomes& outcomes = sampled[branch.from];
      ++outcomes.taken;
      outcomes.mispredicted += branch.mispred;
    }
    for (auto it = exact.lower_bound(stack[age + 1].to); it != exact.end() && it->first < branch.from; ++it)
      ++sampled[it->first].not_taken;
  }
}

struct Workload {
  std::string name;
  std::vector<std::string> arguments;
};
void PrintTo(const Workload& workload, std::ostream* out) { *out << workload.name; }
/// More than 110,000 taken branches each. `optimizable` is `branches` with conditional moves instead.
const std::vector<Workload> workloads{{"branches", {"13000"}}, {"mispredict", {"2000", "20"}}};

/// Taken branches are counted, so that the stack is as likely to end at any of them as at any other. Samples
/// come from one replay for each period: periods without a common divisor do not meet a loop in the same
/// phase.
struct Sampling {
  std::string name, model, event;
  std::vector<std::string> options;
  std::vector<unsigned> periods;
  std::size_t samples;  ///< at least
  u64 often;            ///< executions of a branch from which on its rates are compared
};
void PrintTo(const Sampling& sampling, std::ostream* out) { *out << sampling.name; }
const std::vector<Sampling> samplings{
    // Interrupts come at once, and nothing is lost to the freeze: stacks may be as close as one likes.
    {.name = "interrupts_at_once",
     .model = "skylake",
     .event = "br_inst_retired.near_taken:u",
     .options = {"--policy", "pmi_skid_cycles=0"},
     .periods = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31},
     .samples = 100'000,
     .often = 1'000},
    // The assist freezes nothing. Only the interrupt that drains a full buffer leaves a gap.
    {.name = "pebs",
     .model = "goldencove",
     .event = "br_inst_retired.near_taken:upp",
     .options = {},
     .periods = {5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61},
     .samples = 100'000,
     .often = 1'000},
    // A stack must not reach back to the branches that the freeze of the sample before lost: periods are
    // longer than 32 branches and a skid, and samples so much fewer.
    {.name = "skidding_interrupts",
     .model = "skylake",
     .event = "br_inst_retired.near_taken:u",
     .options = {},
     .periods = {47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113},
     .samples = 15'000,
     .often = 10'000}};

struct Sampled {
  std::size_t samples = 0;
  Profile profile;
};

Sampled sample(const std::string& trace, const Sampling& sampling, const Profile& exact) {
  Sampled sampled;
  for (const unsigned period : sampling.periods) {
    std::vector<std::string> options{"--model", sampling.model,        "-b", "-e", sampling.event,
                                     "-c",      std::to_string(period)};
    options.insert(options.end(), sampling.options.begin(), sampling.options.end());
    for (const BranchSample& branch_sample : record_branches(trace, options)) {
      ++sampled.samples;
      add_stack(branch_sample.branches, exact, sampled.profile);
    }
  }
  return sampled;
}

class BranchRates : public testing::TestWithParam<std::tuple<Workload, Sampling>> {};

TEST_P(BranchRates, FromStacksAreWithinOnePercentOfTheTrace) {
  const auto& [workload, sampling] = GetParam();
  const std::string trace = recorded(workload.name, workload.arguments);
  const Profile exact = exact_profile(trace, sampling.model);
  const auto [samples, sampled] = sample(trace, sampling, exact);
  EXPECT_GE(samples, sampling.samples);
  unsigned compared = 0;
  for (const auto& [ip, truth] : exact) {
    if (truth.executed() < sampling.often) continue;
    ++compared;
    ASSERT_TRUE(sampled.contains(ip)) << std::hex << ip;
    EXPECT_NEAR(sampled.at(ip).taken_rate(), truth.taken_rate(), 0.01) << std::hex << ip;
    if (truth.taken < sampling.often) continue;
    EXPECT_NEAR(sampled.at(ip).mispredict_rate(), truth.mispredict_rate(), 0.01) << std::hex << ip;
  }
  EXPECT_GE(compared, 4u);
}

INSTANTIATE_TEST_SUITE_P(Workloads, BranchRates,
                         testing::Combine(testing::ValuesIn(workloads), testing::ValuesIn(samplings)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_by_" + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace pmusim::test

// SPDX-License-Identifier: MIT
// Branch stacks of recorded programs, held against the trace branch by branch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "branch_profile.h"
#include "command.h"
#include "perfdata/sample_parser.h"

namespace pmusim::test {
namespace {

struct Filter {
  std::string name;  ///< as -j takes it
  bool (*asks_for)(const ExecutedBranch&);
};

bool stays_in_user_code(const ExecutedBranch& b) { return b.taken && b.cpl_after == Cpl::user; }
const std::vector<Filter> filters = {
    {"any,u", stays_in_user_code},
    {"any_call,u", [](const ExecutedBranch& b) { return stays_in_user_code(b) && is_near_call(b.kind); }},
    {"any_ret,u",
     [](const ExecutedBranch& b) { return stays_in_user_code(b) && b.kind == BranchKind::near_return; }},
    {"cond,u",
     [](const ExecutedBranch& b) { return stays_in_user_code(b) && b.kind == BranchKind::conditional; }},
    {"ind_jmp,u",
     [](const ExecutedBranch& b) { return stays_in_user_code(b) && b.kind == BranchKind::indirect_jump; }},
};

bool is_same(const perf::BranchEntry& entry, const ExecutedBranch& branch) {
  return entry.from == branch.ip && entry.to == branch.next_ip;
}

/// Position of the branch that is the newest of a stack whose entries are consecutive branches, at or behind
/// `first`; the end if there is none. `counters`: what the words of the stack have to be, if it has any.
std::size_t find_stack(const std::vector<ExecutedBranch>& branches, const BranchSample& sample,
                       std::size_t first, const std::vector<u64>& counters = {}) {
  const std::size_t depth = sample.branches.size();
  const auto is_entry = [&](std::size_t age, std::size_t at) {
    return is_same(sample.branches[age], branches[at]) &&
           (counters.empty() || sample.counters.at(age) == counters[at]);
  };
  for (std::size_t newest = std::max(first, depth - 1); newest < branches.size(); ++newest) {
    std::size_t age = 0;
    while (age < depth && is_entry(age, newest - age)) ++age;
    if (age == depth) return newest;
  }
  return branches.size();
}

std::vector<ExecutedBranch> branches_for(const Filter& filter, const std::string& trace,
                                         const std::string& model) {
  static std::map<std::string, std::vector<ExecutedBranch>> known;
  std::vector<ExecutedBranch>& all = known[trace + model];
  if (all.empty()) all = executed_branches(trace, model);
  std::vector<ExecutedBranch> passing;
  std::ranges::copy_if(all, std::back_inserter(passing), filter.asks_for);
  return passing;
}

class BranchStack : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(BranchStack, HoldsTheTracesConsecutiveFilteredBranches) {
  const auto& [model, filter_name] = GetParam();
  const auto filter = std::ranges::find(filters, filter_name, &Filter::name);
  const std::string trace = recorded("branches", {"400"});
  const std::vector<ExecutedBranch> expected = branches_for(*filter, trace, model);
  // Interrupts come at once: branches between an overflow and its interrupt are lost to the freeze.
  const std::vector<BranchSample> samples = record_branches(
      trace,
      {"--model", model, "-e", "branches:u", "-c", "37", "-j", filter_name, "--policy", "pmi_skid_cycles=0"});
  EXPECT_GT(samples.size(), 100u);
  std::size_t position = 0, entries = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].branches.empty()) continue;
    entries += samples[i].branches.size();
    position = find_stack(expected, samples[i], position);
    ASSERT_LT(position, expected.size()) << "sample " << i << " is not in the trace";
    for (const perf::BranchEntry& entry : samples[i].branches) ASSERT_EQ(entry.priv | entry.spec, 0u);
  }
  EXPECT_GT(entries, 20u);  // Core 2 has 4 records and filters them in software
}

std::string identifier(const testing::TestParamInfo<std::tuple<std::string, std::string>>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == ','; }, '_');
  return name;
}
std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const Filter& f : filters) names.push_back(f.name);
  return names;
}
// One model of each record format: 2, 3, 4, 5, 6, 7 and architectural, without and with event counts.
INSTANTIATE_TEST_SUITE_P(Formats, BranchStack,
                         testing::Combine(testing::Values("core2", "nehalem", "haswell", "skylake",
                                                          "goldmont", "goldmont-plus", "goldencove",
                                                          "lioncove"),
                                          testing::ValuesIn(filter_names())),
                         identifier);

/// True if the entries of a stack that ends at `newest` are consecutive branches but for those that followed
/// the newest branch of an earlier sample: the LBR was frozen until that sample's interrupt was handled.
bool is_explained(const std::vector<ExecutedBranch>& branches, const BranchSample& sample, std::size_t newest,
                  const std::set<std::size_t>& sampled) {
  std::set<std::size_t> candidates{newest};
  for (const perf::BranchEntry& entry : sample.branches) {
    std::erase_if(candidates, [&](std::size_t at) { return !is_same(entry, branches[at]); });
    if (candidates.empty()) return false;
    std::set<std::size_t> older;
    for (const std::size_t at : candidates) {
      if (at > 0) older.insert(at - 1);
      if (const auto frozen = sampled.lower_bound(at); frozen != sampled.begin())
        older.insert(*std::prev(frozen));
    }
    candidates = std::move(older);
  }
  return true;
}

TEST(BranchStackOfSkiddingInterrupts, LacksOnlyWhatTheFreezeLost) {
  constexpr std::size_t period = 61;  // more branches than a skid has
  const std::string trace = recorded("branches", {"400"});
  const std::vector<ExecutedBranch> all = executed_branches(trace, "skylake");
  std::vector<ExecutedBranch> taken;
  std::set<std::size_t> sampled;
  std::size_t retired = 0, with_gaps = 0;
  for (const BranchSample& sample : record_branches(
           trace, {"--model", "skylake", "-e", "branches:u", "-c", std::to_string(period), "-j", "any,u"})) {
    const std::size_t overflow = retired + period;
    for (; retired < overflow; ++retired)
      if (stays_in_user_code(all.at(retired))) taken.push_back(all[retired]);
    ASSERT_TRUE(is_explained(taken, sample, taken.size() - 1, sampled)) << "sample at branch " << overflow;
    with_gaps += !is_explained(taken, sample, taken.size() - 1, {});
    sampled.insert(taken.size() - 1);
  }
  EXPECT_GT(sampled.size(), 300u);
  EXPECT_GT(with_gaps, 10u);
}

TEST(BranchStackOfPebs, EndsWithTheSampledBranch) {
  const std::string trace = recorded("branches", {"400"});
  for (const std::string model : {"icelake", "goldencove"}) {
    const std::vector<ExecutedBranch> expected = branches_for(filters[0], trace, model);
    std::size_t position = 0;
    const std::vector<BranchSample> samples =
        record_branches(trace, {"--model", model, "-e", "br_inst_retired.near_taken:upp", "-c", "97", "-b"});
    EXPECT_GT(samples.size(), 50u) << model;
    for (const BranchSample& sample : samples) {
      position = find_stack(expected, sample, position);
      ASSERT_LT(position, expected.size()) << model;
    }
  }
}

/// Occurrences of the group's events, 2 bits each, since the branch that was recorded before `branches[at]`.
u64 occurrences(const std::vector<ExecutedBranch>& branches, std::size_t at) {
  u64 executed = 0, returns = 0, mispredicted = 0;
  do {
    ++executed;
    returns += branches[at].kind == BranchKind::near_return;
    mispredicted += branches[at].mispredicted;
  } while (at-- > 0 && !stays_in_user_code(branches[at]));
  constexpr u64 most = 3;
  return std::min(executed, most) | std::min(returns, most) << 2 | std::min(mispredicted, most) << 4;
}

class BranchCounters : public testing::TestWithParam<std::string> {};

TEST_P(BranchCounters, CountTheEventsOfTheGroupSinceTheBranchBefore) {
  const std::string trace = recorded("branches", {"400"});
  const std::vector<ExecutedBranch> all = executed_branches(trace, GetParam());
  std::vector<ExecutedBranch> taken;
  std::vector<u64> expected;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (!stays_in_user_code(all[at])) continue;
    taken.push_back(all[at]);
    expected.push_back(occurrences(all, at));
  }
  const std::vector<BranchSample> samples = record_branches(
      trace, {"--model", GetParam(), "-e",
              "{br_inst_retired.all_branches:u,br_inst_retired.near_return:u,br_misp_retired.all_branches:u}",
              "-c", "37", "-j", "any,counter,u", "--policy", "pmi_skid_cycles=0"});
  EXPECT_GT(samples.size(), 500u);
  std::size_t position = 0;
  std::set<u64> seen;
  for (const BranchSample& sample : samples) {
    position = find_stack(taken, sample, position, expected);
    ASSERT_LT(position, taken.size());
    ASSERT_EQ(sample.counters.size(), sample.branches.size());
    for (const perf::BranchEntry& entry : sample.branches) ASSERT_EQ(entry.reserved, 0u);
    seen.insert(sample.counters.begin(), sample.counters.end());
  }
  EXPECT_GT(seen.size(), 6u);
}
INSTANTIATE_TEST_SUITE_P(Models, BranchCounters, testing::Values("lioncove", "diamondrapids", "skymont"));

TEST(CallStack, HoldsTheCallsThatHaveNotReturned) {
  const std::string trace = recorded("branches", {"400"});
  const std::vector<BranchSample> samples =
      record_branches(trace, {"--model", "skylake", "-e", "branches:u", "-c", "97", "-j", "stack,u"});
  std::map<u64, u64> call_sites;
  for (const ExecutedBranch& b : executed_branches(trace, "skylake"))
    if (is_near_call(b.kind)) call_sites[b.ip] = b.next_ip;
  unsigned nested = 0;
  for (const BranchSample& sample : samples) {
    for (const perf::BranchEntry& entry : sample.branches) ASSERT_TRUE(call_sites.contains(entry.from));
    // A frame is entered before the next inner one is called from it.
    for (std::size_t i = 1; i < sample.branches.size(); ++i)
      nested += sample.branches[i].to <= sample.branches[i - 1].from;
  }
  EXPECT_GT(nested, samples.size());
}

}  // namespace
}  // namespace pmusim::test

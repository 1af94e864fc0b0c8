// SPDX-License-Identifier: MIT
// perf.data files as other tools and machines make them: what is known of them, and what is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/annotate/perf_data_fixture.h"

namespace pmusim::annotate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

namespace misc {
constexpr u16 kernel = 1, user = 2, hypervisor = 3, guest_kernel = 4, guest_user = 5;
}

class OtherFiles : public PerfDataTest {
 protected:
  /// One sample with three rounds of the counted program, of an event with this filter of branches.
  Report with_branches(u64 filter, std::vector<perf::BranchEntry> branches, const Options& options = {}) {
    return with_branches(attribute(filter), std::move(branches), options);
  }
  Report with_branches(const perf::Attr& attr, std::vector<perf::BranchEntry> branches,
                       const Options& options = {}) {
    open();
    add_event("cycles", attr);
    tell(program());
    write(sample({.ip = in_round, .branches = std::move(branches)}));
    return report(options);
  }
  static std::vector<perf::BranchEntry> three_rounds() {
    return counted::newest_first(counted::three_rounds());
  }
  static std::vector<perf::BranchEntry> without_prediction() {
    auto branches = three_rounds();
    for (perf::BranchEntry& entry : branches) entry.mispred = entry.predicted = 0;
    return branches;
  }
  static std::string text(const Report& report) {
    return annotation_text(report, *find_function(report, "_start"), Colours::none);
  }

  /// An event that samples call chains instead of branches.
  static perf::Attr chained(u64 more = 0) {
    perf::Attr attr = attribute(0);
    attr.sample_type = perf::sample::IDENTIFIER | perf::sample::IP | perf::sample::TID | perf::sample::TIME |
                       perf::sample::PERIOD | perf::sample::CALLCHAIN | more;
    return attr;
  }
  void write_chain(u64 ip, u64 period, const std::vector<u64>& chain, std::vector<u64> more = {}) {
    std::vector<u64> words{1, ip, u64{1} << 32 | 1, 100, period, chain.size()};
    words.insert(words.end(), chain.begin(), chain.end());
    words.insert(words.end(), more.begin(), more.end());
    write(record(9, misc::user, words));
  }
  static u64 children(const Report& report, const std::string& name) {
    for (const Symbol& symbol : report.symbols)
      if (symbol.name == name) return symbol.with_callees[0].period;
    return 0;
  }
};

// --- perf inject makes branch stacks of traces: HW_INDEX alone for Intel PT, nothing for CoreSight.

TEST_F(OtherFiles, BranchStacksMadeOfATraceAreComplete) {
  for (const u64 filter : {u64{perf::branch::HW_INDEX}, u64{0}}) {
    perf::Attr attr = attribute(filter);
    auto branches = three_rounds();
    open();
    add_event("instructions:u", attr);
    tell(program());
    if (filter == 0) {
      write(sample({.ip = in_round, .branches = branches}));
    } else {
      // The index stands between the number of entries and the first of them.
      std::vector<u64> words{1, in_round, u64{1} << 32 | 1, 100, 1, branches.size(), 0};
      words.resize(7 + 3 * branches.size());
      std::memcpy(words.data() + 7, branches.data(), sizeof(perf::BranchEntry) * branches.size());
      write(record(9, misc::user, words));
    }
    const Report r = report();
    EXPECT_THAT(r.notes, IsEmpty()) << filter;
    EXPECT_EQ(r.totals.blocks, 7u) << filter;
    EXPECT_EQ(r.symbols[0].max_coverage, 3u) << filter;
  }
}

TEST_F(OtherFiles, PredictionThatNobodyRecordedIsLeftOut) {
  const Report r = with_branches(perf::branch::ANY, without_prediction());
  EXPECT_THAT(text(r), HasSubstr("# -66.67%\n"));
  EXPECT_THAT(text(r), Not(HasSubstr("(p:")));
  EXPECT_THAT(ranking_text(r, {Ranking::branches}, Colours::none), Not(HasSubstr(" 0.00%")));
  EXPECT_THAT(to_json(r), HasSubstr(R"("predicted_percent": null)"));
  EXPECT_THAT(to_html(r), Not(HasSubstr("(p:0")));
}

TEST_F(OtherFiles, PredictionIsAShareOfWhatWasRecordedOfIt) {
  auto branches = without_prediction();
  branches.at(1).predicted = 1;  // the last je; nothing is known of the first
  const Report r = with_branches(perf::branch::ANY, branches);
  EXPECT_THAT(text(r), HasSubstr("# -66.67% (p:100.00%)"));
}

// --- filters

TEST_F(OtherFiles, AFilterIsNamedWithWhatItBiases) {
  const Report r =
      with_branches(perf::branch::ANY_CALL | perf::branch::COND | perf::branch::USER, three_rounds());
  EXPECT_THAT(r.notes,
              Contains(HasSubstr("cycles: its branch stacks are filtered (calls, conditional branches)")));
  EXPECT_EQ(r.totals.blocks, 0u);
}

TEST_F(OtherFiles, TransactionsNarrowEvenAny) {
  const Report r =
      with_branches(perf::branch::ANY | perf::branch::NO_TX | perf::branch::USER, three_rounds());
  EXPECT_THAT(r.notes, Contains(HasSubstr("filtered (outside of transactions)")));
}

TEST_F(OtherFiles, BranchesOfTheKernelAloneAreNoHistory) {
  EXPECT_THAT(with_branches(perf::branch::ANY | perf::branch::KERNEL, three_rounds()).notes,
              Contains(HasSubstr("filtered (the kernel's alone)")));
  perf::Attr by_event = attribute(perf::branch::ANY);
  by_event.exclude_user = 1;
  EXPECT_THAT(with_branches(by_event, three_rounds()).notes, Contains(HasSubstr("the kernel's alone")));
  EXPECT_THAT(with_branches(perf::branch::ANY | perf::branch::USER, three_rounds()).notes, IsEmpty());
}

TEST_F(OtherFiles, AFunctionByNameSaysWhatItsSamplesLeaveOut) {
  open();
  add_event("cycles", attribute());
  tell(program());
  write(sample({.ip = in_round, .branches = three_rounds()}));
  write(sample({.ip = counted::leaf + counted::moved, .branches = three_rounds()}));
  const Options by_name{.symbols = {"_start"}};
  EXPECT_THAT(report(by_name).notes,
              Contains(HasSubstr("6 of 12 branches recorded there are in other samples")));
  EXPECT_THAT(with_branches(every_branch, three_rounds(), by_name).notes, IsEmpty());
}

// --- what the CPU ran

TEST_F(OtherFiles, CodeIsNamedByTheModeOfItsRecordNotByItsAddress) {
  open();
  add_event("cycles", attribute());
  tell(program());
  for (const u16 mode : {misc::kernel, misc::user, misc::hypervisor, misc::guest_kernel, misc::guest_user})
    write(sample({.ip = in_round, .misc = mode}));
  std::vector<std::string> modules;
  for (const Module& module : report().modules) modules.push_back(module.path);
  EXPECT_THAT(modules, UnorderedElementsAre("[kernel]", counted::path, "[hypervisor]", "[guest kernel]",
                                            "[guest user]"));
}

TEST_F(OtherFiles, BranchesOfA32BitKernelAreTheKernels) {
  constexpr u64 in_kernel = 0xC0101000;
  open();
  add_event("cycles", attribute());
  tell(program());
  write(sample({.ip = in_kernel,
                .branches = {{.from = in_kernel, .to = in_kernel + 16}, {.from = in_round, .to = in_kernel}},
                .misc = misc::kernel}));
  const Report r = report();
  ASSERT_EQ(r.branches.size(), 2u);
  std::vector<std::string> sources;
  for (const Branch& branch : r.branches)
    sources.push_back(r.modules[r.symbols[branch.from.symbol].module].path);
  EXPECT_THAT(sources, UnorderedElementsAre("[kernel]", counted::path));
}

TEST_F(OtherFiles, MarksOfACallChainSayWhatItsFramesAre) {
  constexpr u64 in_kernel = 0xC0101000, to_kernel = ~u64{127}, to_user = ~u64{511};
  open();
  add_event("cycles", chained());
  tell(program());
  std::vector<u64> chain{to_kernel, in_kernel, to_user, in_round};
  std::vector<u64> words{1, in_kernel, u64{1} << 32 | 1, 100, 1, chain.size()};
  words.insert(words.end(), chain.begin(), chain.end());
  write(record(9, misc::kernel, words));
  const Report r = report();
  EXPECT_EQ(children(r, "_start"), 1u);
  EXPECT_THAT(names(r), UnorderedElementsAre("[unknown]", "_start"));
}

// --- call stacks

TEST_F(OtherFiles, ASampleWithoutAChainCountsForItsFunction) {
  open();
  add_event("cycles", chained());
  tell(program());
  write_chain(in_round, 30, {});
  write_chain(counted::leaf + counted::moved, 70,
              {~u64{511}, counted::leaf + counted::moved, counted::skip + counted::moved});
  const Report r = report();
  EXPECT_EQ(children(r, "leaf"), 70u);
  EXPECT_EQ(children(r, "_start"), 100u) << "30 of its own, and those of what it called";
}

TEST_F(OtherFiles, ChildrenIsNeverBelowOverhead) {
  open();
  add_event("cycles", chained());
  tell(program());
  // Precise events: the chain begins where the interrupt was, in another function.
  write_chain(in_round, 5, {~u64{511}, counted::leaf + counted::moved, counted::skip + counted::moved});
  write_chain(in_round, 7, {~u64{511}});
  for (const Symbol& symbol : report().symbols)
    EXPECT_GE(symbol.with_callees[0].period, symbol.weights[0].period) << symbol.name;
}

TEST_F(OtherFiles, StacksThatAreNotUnwoundAreNamed) {
  open();
  add_event("cpu-clock", chained(perf::sample::STACK_USER));
  tell(program());
  write_chain(in_round, 9, {~u64{511}}, {0});
  const Report r = report();
  EXPECT_THAT(r.notes,
              ElementsAre(HasSubstr("copies of the stack (--call-graph dwarf), which are not unwound")));
  EXPECT_EQ(children(r, "_start"), 9u);
}

}  // namespace
}  // namespace pmusim::annotate

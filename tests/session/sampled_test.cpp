// SPDX-License-Identifier: MIT
// Core `sampled`: windows of the whole core, and the order of the program between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "events/resolve.h"
#include "events/vendor.h"
#include "pmusim/session/record.h"
#include "pmusim/session/stat.h"
#include "session/window_estimate.h"
#include "tests/session/walk.h"
#include "tests/support/dice.h"

namespace pmusim {
namespace {

using testing::HasSubstr;

constexpr CoreWindows short_windows{.detail = 120, .warm = 60, .every = 700, .first = 40};

Session open(const CpuModel& model, CoreLevel core, u64 seed, u64 runs, const CoreWindows& windows,
             Stepping stepping = Stepping::blocks) {
  auto program =
      std::make_unique<test::Walk>(seed, runs, test::Walk::Registers::unknown, test::Walk::Addresses::known);
  return Session::open(std::move(program),
                       {.model = model, .core = core, .windows = windows, .stepping = stepping})
      .value();
}

/// Every event of the model that the order of a program decides, one to a group.
std::vector<events::EventGroup> ordered_events(const CpuModel& model) {
  std::vector<events::EventGroup> groups;
  for (const EventDefinition& event : model.events) {
    perf::Attr attr;
    attr.type = static_cast<u32>(perf::EventType::raw);
    attr.config = events::event_select_bits(event);
    attr.config1 = event.extra;
    attr.exclude_kernel = attr.exclude_hv = 1;
    const auto resolved = events::resolve(model, attr);
    if (!resolved.ok() || !events::follows_from_order(*resolved)) continue;
    groups.push_back({.events = {{.name = std::string(event.name), .attr = attr}}});
  }
  return groups;
}

std::vector<EventTotal> count(Session session, const std::vector<events::EventGroup>& groups) {
  const auto report = stat(session, {.events = groups, .uncountable = Uncountable::shown});
  EXPECT_TRUE(report.ok());
  return report.ok() ? report->events : std::vector<EventTotal>();
}

TEST(SampledCore, CountsWhatTheOrderDecidesAsTheWholeCoreDoes) {
  u64 compared = 0, occurred = 0;
  for (std::size_t n = 0; n < cpu_models().size(); ++n) {
    CpuModel model = cpu_models()[n];
    if (!model.has_timing_model) continue;
    Dice dice(n);
    const CoreWindows windows{.detail = 1 + dice.below(300),
                              .warm = dice.below(200),
                              .every = 500 + dice.below(3000),
                              .first = dice.below(1000)};
    model.core.l3.bytes = std::min(model.core.l3.bytes, model.core.l3.ways * model.core.l3.line_bytes * 512);
    const auto groups = ordered_events(model);
    const auto whole = count(open(model, CoreLevel::interval, n, 4000, windows), groups);
    const auto sampled = count(open(model, CoreLevel::sampled, n, 4000, windows), groups);
    ASSERT_EQ(whole.size(), sampled.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(sampled[i].counted, whole[i].counted) << model.name << ' ' << whole[i].name;
      EXPECT_FALSE(sampled[i].estimate);
      ++compared;
      occurred += whole[i].counted != 0;
    }
  }
  EXPECT_GT(compared, 1000u);
  EXPECT_GT(occurred, compared / 3);
}

TEST(SampledCore, WindowsWithoutGapsCountAsTheWholeCoreDoes) {
  const CpuModel model = find_cpu_model("skylake").value();
  const auto groups =
      events::parse_events("cycles,mem_load_retired.l1_miss,uops_issued.any,l2_rqsts.miss", model).value();
  const CoreWindows all{.detail = 1000, .warm = 0, .every = 1000};
  const auto whole = count(open(model, CoreLevel::interval, 3, 4000, all), groups);
  const auto sampled = count(open(model, CoreLevel::sampled, 3, 4000, all), groups);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(sampled[i].value(), whole[i].value()) << whole[i].name;
    EXPECT_EQ(sampled[i].estimate.value().half_width, 0u) << whole[i].name;
  }
}

TEST(SampledCore, EstimatesWhatNeedsTimeAndKeepsTheOrderOfEvents) {
  const CpuModel model = find_cpu_model("icelake").value();
  const auto groups = events::parse_events("{cycles,instructions},{branches,cycles}", model).value();
  const auto totals = count(open(model, CoreLevel::sampled, 1, 20000, short_windows), groups);
  ASSERT_EQ(totals.size(), 4u);
  for (const std::size_t timed : {0u, 3u}) {
    EXPECT_EQ(totals[timed].name, "cycles");
    ASSERT_TRUE(totals[timed].estimate);
    EXPECT_GT(totals[timed].estimate->windows, 20u);
    EXPECT_GT(totals[timed].value(), totals[timed].counted);
  }
  EXPECT_EQ(totals[1].name, "instructions");
  EXPECT_FALSE(totals[1].estimate);
}

// By hand: 15 events in 5 windows of 10 instructions each; deviations from 3 are -2 to 2, their squares 10.
// sqrt(5/4 * 10 * (1 - 50/500)) * 500/50 = 33.5, times 4.604, Student's quantile of four degrees.
TEST(WindowEstimate, IsARatioWithStudentsInterval) {
  WindowEstimate estimate;
  for (const u64 events : {1u, 2u, 3u, 4u, 5u}) estimate.add(10, events);
  const Estimate of = estimate.of_program(500);
  EXPECT_EQ(of.value, 150u);
  EXPECT_EQ(of.windows, 5u);
  EXPECT_NEAR(static_cast<double>(of.half_width), 33.54 * 4.604, 2);
  EXPECT_EQ(estimate.of_program(50).half_width, 0u) << "nothing is unseen";
}

TEST(SampledCore, RefusesPartsOfTheProgram) {
  const CpuModel model = find_cpu_model("icelake").value();
  const auto groups = events::parse_events("cycles", model).value();
  const auto refusal = [&](StatOptions options) {
    Session session = open(model, CoreLevel::sampled, 1, 2000, short_windows);
    options.events = groups;
    return stat(session, options).error().message;
  };
  EXPECT_THAT(refusal({.per_thread = true}), HasSubstr("counts by thread: core 'sampled' estimates"));
  EXPECT_THAT(refusal({.interval_ns = 1000}), HasSubstr("counts by interval"));
  EXPECT_THAT(refusal({.measured = {{0, 1000}}}), HasSubstr("a part of the time"));
  EXPECT_THAT(refusal({.fitting = Fitting::multiplex}), HasSubstr("take turns"));
  Session few = open(model, CoreLevel::sampled, 1, 100, {.detail = 100, .warm = 0, .every = 1'000'000});
  EXPECT_THAT(stat(few, {.events = groups}).error().message, HasSubstr("have 1 windows of core 'sampled'"));
}

TEST(SampledCore, RefusesToSampleWhatWindowsDoNotCount) {
  const CpuModel model = find_cpu_model("icelake").value();
  const auto refusal = [&](const char* event) {
    Session session = open(model, CoreLevel::sampled, 1, 2000, short_windows);
    RecordOptions options{.events = events::parse_events(event, model).value(), .period = 1009};
    return sample(session, options).error().message;
  };
  EXPECT_THAT(refusal("cpu-clock"), HasSubstr("no counter of the CPU samples it"));
  EXPECT_THAT(refusal("{cycles,instructions}:S"), HasSubstr("samples are to hold counts"));
}

/// Where straight lines of code went: from the target of a branch to the next one.
using Lines = std::set<std::pair<u64, u64>>;

Lines lines_of(const Samples& samples) {
  Lines lines;
  for (const Sample& each : samples)
    for (std::size_t n = 0; n + 1 < each.sample.branches.size(); ++n)
      lines.emplace(each.sample.branches[n + 1].to, each.sample.branches[n].from);
  return lines;
}

Samples branch_samples(CoreLevel core, const CoreWindows& windows) {
  const CpuModel model = find_cpu_model("icelake").value();
  Session session = open(model, core, 7, 60'000, windows);
  RecordOptions options{.events = events::parse_events("cycles:upp", model).value(), .period = 331};
  options.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  return sample(session, options).value();
}

TEST(SampledCore, BranchStacksGoOnFromWhatRanBeforeTheWindow) {
  const Lines whole = lines_of(branch_samples(CoreLevel::interval, short_windows));
  const CoreWindows windows{.detail = 100, .warm = 600, .every = 1400};
  const Samples sampled = branch_samples(CoreLevel::sampled, windows);
  ASSERT_GT(sampled.size(), 50u);
  u64 full = 0;
  for (const Sample& each : sampled) full += each.sample.branches.size() == 32;
  EXPECT_GT(full, sampled.size() * 9 / 10);
  const Lines lines = lines_of(sampled);
  ASSERT_FALSE(lines.empty());
  for (const auto& line : lines)
    EXPECT_TRUE(whole.contains(line)) << std::hex << line.first << '-' << line.second;
}

u64 sum_of_periods(const Samples& samples) {
  u64 sum = 0;
  for (const Sample& each : samples) sum += each.sample.period;
  return sum;
}

TEST(SampledCore, SamplesStandForWhatTheProgramHas) {
  const CpuModel model = find_cpu_model("icelake").value();
  for (const char* const event : {"cycles:upp", "branches:upp"}) {
    const auto samples_by = [&](CoreLevel core) {
      Session session = open(model, core, 7, 60'000, short_windows);
      const RecordOptions options{.events = events::parse_events(event, model).value(), .period = 331};
      return sample(session, options).value();
    };
    const Samples whole = samples_by(CoreLevel::interval), sampled = samples_by(CoreLevel::sampled);
    const auto ratio = [](u64 a, u64 b) { return static_cast<double>(a) / static_cast<double>(b); };
    EXPECT_NEAR(ratio(sum_of_periods(sampled), sum_of_periods(whole)), 1, 0.1) << event;
    // Of what comes once in an instruction there are as many as asked for.
    const bool is_counted_once = event[0] == 'b';
    EXPECT_NEAR(ratio(sampled.size(), whole.size()), is_counted_once ? 1 : 120. / 700, 0.1) << event;
  }
}

}  // namespace
}  // namespace pmusim

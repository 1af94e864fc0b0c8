// SPDX-License-Identifier: MIT
// Two ways through a program, one result: what a replay by blocks leaves, in files, counts and registers, is
// what a replay instruction by instruction leaves, at each level of core.
#include <gtest/gtest.h>

#include <algorithm>

#include "events/vendor.h"
#include "pmusim/session/stat.h"
#include "tests/session/outcome.h"
#include "tests/session/walk.h"
#include "tests/support/dice.h"

namespace pmusim {
namespace {

constexpr u64 races = 200;
constexpr u64 block_runs = 3000;

CpuModel draw_model(u64 seed, Dice& dice) {
  CpuModel model = cpu_models()[seed % cpu_models().size()];
  // Small enough that it is soon full, and made in no time.
  CacheGeometry& l3 = model.core.l3;
  l3.bytes = std::min(l3.bytes, l3.ways * l3.line_bytes * 512);
  test::draw_policies(model, dice);
  return model;
}

perf::Attr draw_attr(const CpuModel& model, Dice& dice) {
  perf::Attr attr;
  attr.exclude_kernel = attr.exclude_hv = 1;
  if (dice.one_in(2)) {
    attr.type = static_cast<u32>(perf::EventType::hardware);
    attr.config = dice.below(10);
  } else if (dice.one_in(8)) {
    attr.type = static_cast<u32>(perf::EventType::software);
    attr.config = dice.one_in(2) ? 1 : 3;  // task clock, context switches
  } else if (!model.events.empty()) {
    const EventDefinition& event = model.events[dice.below(model.events.size())];
    attr.type = static_cast<u32>(perf::EventType::raw);
    attr.config = events::event_select_bits(event);
    attr.config1 = event.extra;
    // In every cycle, or in none, whatever retires in it: that is summed up, too.
    constexpr u64 inv = bit(23), no_cycle = u64{255} << 24;
    if (dice.one_in(4)) attr.config |= dice.one_in(2) ? no_cycle | inv : no_cycle;
  }
  attr.sample_period = dice.one_in(8) ? 0 : 30 + dice.below(dice.one_in(2) ? 300 : 4000);
  if (dice.one_in(6)) {
    attr.freq = 1;
    attr.sample_period = 1000 + dice.below(90'000);
  }
  const bool precise = attr.sample_period != 0 && attr.type != static_cast<u32>(perf::EventType::software);
  if (precise) attr.precise_ip = dice.below(4) & 3;
  return attr;
}

RecordOptions draw_options(Dice& dice, bool registers) {
  using namespace perf::branch;
  RecordOptions options{.period = 1009};
  constexpr u64 filters[] = {0, ANY, ANY, ANY_CALL | ANY_RETURN, COND, IND_JUMP | CALL, CALL_STACK};
  options.branch_sample_type = filters[dice.below(std::size(filters))];
  if (options.branch_sample_type != 0) options.branch_sample_type |= USER;
  options.running_times = dice.one_in(4);
  options.switches = dice.one_in(4);
  if (registers) options.user_registers = options.interrupt_registers = bits(8, 0);
  return options;
}

/// A replay that is drawn: the same seed draws the same.
struct Draw {
  SessionOptions machine;
  RecordOptions options;
  u64 seed = 0;
  test::Walk::Registers registers = test::Walk::Registers::unknown;
  test::Walk::Addresses addresses = test::Walk::Addresses::unknown;

  Session open(Stepping stepping, u64 runs = block_runs) const {
    SessionOptions with = machine;
    with.stepping = stepping;
    auto session = Session::open(std::make_unique<test::Walk>(seed, runs, registers, addresses), with);
    return std::move(session).value();
  }
};

/// Whether it could be sampled on this machine; those that cannot be are refused with a sentence.
bool is_possible(const Draw& drawn, const events::EventGroup& group) {
  Session session = drawn.open(Stepping::blocks, 0);
  perf::Event* leader = nullptr;
  for (const events::ParsedEvent& event : group.events) {
    const GroupRole role = group.events.size() == 1 ? GroupRole::alone
                           : leader == nullptr      ? GroupRole::leader
                                                    : GroupRole::member;
    const auto opened = session.open_event(record_attr(event, role, drawn.options), leader);
    if (!opened.ok()) return false;
    if (leader == nullptr) leader = *opened;
  }
  return true;
}

bool has_software_event(const events::ParsedEvent& event) {
  return event.attr.type == static_cast<u32>(perf::EventType::software);
}

Draw draw(CoreLevel level, u64 seed) {
  Dice dice(seed);
  Draw drawn{.machine = {.model = draw_model(seed, dice), .core = level}, .seed = seed};
  drawn.machine.windows = {.detail = 100 + seed, .warm = 3 * seed, .every = 500 + 7 * seed, .first = 100};
  if (dice.one_in(4)) drawn.registers = test::Walk::Registers::known;
  if (has_caches(level) && dice.one_in(2)) drawn.addresses = test::Walk::Addresses::known;
  if (dice.one_in(3)) drawn.machine.tick_ns = 1 + dice.below(4000);
  drawn.options = draw_options(dice, drawn.registers == test::Walk::Registers::known);
  if (drawn.addresses == test::Walk::Addresses::known) {
    drawn.options.addresses = dice.one_in(4);
    drawn.options.weight = dice.one_in(4);
  }
  for (u64 tries = 0; tries < 12 && drawn.options.events.size() < 4; ++tries) {
    events::EventGroup group;
    for (u64 n = dice.one_in(4) ? 2 : 1; n != 0; --n)
      group.events.push_back({.name = "e", .attr = draw_attr(drawn.machine.model, dice)});
    const bool is_by_windows = level == CoreLevel::sampled;  // which no software event is
    if (is_by_windows && std::ranges::any_of(group.events, has_software_event)) continue;
    if (is_possible(drawn, group)) drawn.options.events.push_back(group);
  }
  return drawn;
}

test::Outcome record_by(Stepping stepping, const Draw& drawn) {
  Session session = drawn.open(stepping);
  return test::outcome_of(session, drawn.options);
}

class LevelRace : public testing::TestWithParam<CoreLevel> {};
INSTANTIATE_TEST_SUITE_P(Core, LevelRace,
                         testing::Values(CoreLevel::flat, CoreLevel::simple, CoreLevel::memory,
                                         CoreLevel::interval, CoreLevel::sampled),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(LevelRace, BlocksLeaveTheFileAndRegistersOfInstructions) {
  u64 recorded = 0, samples = 0;
  for (u64 seed = 0; seed < races; ++seed) {
    const Draw drawn = draw(GetParam(), seed);
    if (drawn.options.events.empty()) continue;
    const test::Outcome exact = record_by(Stepping::instructions, drawn);
    const test::Outcome fast = record_by(Stepping::blocks, drawn);
    const std::string what = "seed " + std::to_string(seed) + " on " + drawn.machine.model.name;
    ASSERT_EQ(fast.error, exact.error) << what;
    ASSERT_EQ(fast.now, exact.now) << what;
    ASSERT_EQ(fast.registers, exact.registers) << what;
    ASSERT_EQ(fast.samples, exact.samples) << what;
    ASSERT_TRUE(fast.file == exact.file) << what << ": the files differ";
    ASSERT_EQ(fast.state, exact.state) << what;
    ASSERT_EQ(fast.instructions, exact.instructions) << what;
    recorded += exact.error.empty();
    samples += exact.samples;
  }
  EXPECT_GT(recorded, races / 2);
  EXPECT_GT(samples, 10 * races);
}

TEST_P(LevelRace, BlocksCountPmusAndIntervalsAsInstructionsDo) {
  Draw drawn{.machine = {.model = find_cpu_model("goldencove").value(), .core = GetParam()}, .seed = 5};
  drawn.machine.windows = {.detail = 1000, .warm = 500, .every = 10'000};
  const bool is_by_windows = GetParam() == CoreLevel::sampled;  // of the whole program
  StatOptions options{.per_thread = !is_by_windows};
  const auto list = events::parse_events(
      "cycles,instructions,branches,ref-cycles,br_inst_retired.cond_taken,br_inst_retired.near_call,"
      "br_inst_retired.near_return,br_inst_retired.indirect,mem_inst_retired.any,br_inst_retired.cond_ntaken,"
      "fp_arith_inst_retired.scalar_double,br_inst_retired.far_branch,task-clock",
      drawn.machine.model);
  ASSERT_TRUE(list.ok()) << list.error().message;
  options.events = *list;
  options.uncountable = Uncountable::shown;
  if (!is_by_windows) options.interval_ns = 1'000'000;
  const auto counts_by = [&](Stepping stepping) {
    std::vector<u64> counts;
    const auto take = [&](const std::vector<EventTotal>& events) {
      for (const EventTotal& e : events)
        counts.insert(counts.end(), {e.counted, e.enabled_ns, e.running_ns, u64{e.supported}});
    };
    StatOptions with = options;
    with.on_interval = [&](const IntervalTotals& interval) {
      counts.push_back(interval.end_ns);
      take(interval.events);
    };
    Session session = drawn.open(stepping, 200'000);
    const auto report = stat(session, with);
    EXPECT_TRUE(report.ok());
    counts.push_back(report->replays);
    take(report->events);
    for (const ThreadTotals& thread : report->threads) take(thread.events);
    return counts;
  };
  const std::vector<u64> exact = counts_by(Stepping::instructions);
  EXPECT_GT(exact.size(), is_by_windows ? 40u : 100u);
  EXPECT_EQ(counts_by(Stepping::blocks), exact);
}

/// Each event of a model that counts quantities, as its name has it and compared in the ways that a counter
/// can.
std::vector<events::EventGroup> events_of_quantities(const CpuModel& model) {
  constexpr u64 edge = bit(18), inv = bit(23), cmask = bit(24);
  std::vector<events::EventGroup> groups;
  for (const EventDefinition& event : model.events) {
    if (event.rule.quantity == Quantity::none) continue;
    for (const u64 compared : {u64{0}, cmask, cmask | edge, cmask | inv}) {
      perf::Attr attr;
      attr.type = static_cast<u32>(perf::EventType::raw);
      attr.config = events::event_select_bits(event) | compared;
      attr.config1 = event.extra;
      attr.exclude_kernel = attr.exclude_hv = 1;
      groups.push_back({.events = {{.name = std::string(event.name), .attr = attr}}});
    }
  }
  return groups;
}

TEST(Quantities, AddUpByBlocksToWhatInstructionsSay) {
  for (const char* const name : {"skylake", "icelake", "goldencove", "gracemont"}) {
    const Draw drawn{.machine = {.model = find_cpu_model(name).value()},
                     .seed = 11,
                     .addresses = test::Walk::Addresses::known};
    StatOptions options;
    options.events = events_of_quantities(drawn.machine.model);
    options.uncountable = Uncountable::shown;
    const auto counts_by = [&](Stepping stepping) {
      Session session = drawn.open(stepping, 1000);
      const auto report = stat(session, options);
      EXPECT_TRUE(report.ok());
      return report->events;
    };
    const std::vector<EventTotal> exact = counts_by(Stepping::instructions),
                                  fast = counts_by(Stepping::blocks);
    ASSERT_EQ(fast.size(), exact.size());
    unsigned counted = 0;
    for (std::size_t n = 0; n < exact.size(); ++n) {
      EXPECT_EQ(fast[n].counted, exact[n].counted)
          << options.events[n].events[0].name << " on " << name << ", " << n % 4;
      counted += exact[n].counted != 0;
    }
    EXPECT_GT(counted, exact.size() / 3) << name;
  }
}

}  // namespace
}  // namespace pmusim

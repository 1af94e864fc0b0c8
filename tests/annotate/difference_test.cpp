// SPDX-License-Identifier: MIT
#include "annotate/difference.h"

#include <gmock/gmock.h>

#include <map>

#include "annotate/significance.h"

namespace pmusim::annotate::difference_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Report profile(const std::string& path, const std::vector<std::pair<std::string, u64>>& functions) {
  Report report;
  report.events = {{"cycles", {}}};
  report.modules.resize(1);
  report.modules[0].path = path;
  for (const auto& [name, period] : functions) {
    Symbol symbol;
    symbol.name = name;
    symbol.module = 0;
    symbol.weights = {{1, period}};
    report.symbols.push_back(symbol);
    report.events[0].total.samples += 1;
    report.events[0].total.period += period;
  }
  return report;
}

std::vector<EventChange> changes_between(const Report& before, const Report& after) {
  return compare({"a", before, {}}, {"b", after, {}}, Counting::sampled).events;
}

TEST(Difference, LargestChangesComeFirst) {
  const Report before = profile("/old/prog", {{"a", 60}, {"gone", 30}, {"b", 5}, {"b", 5}});
  const Report after = profile("/new/prog", {{"a", 100}, {"b", 20}, {"added", 80}});
  const std::vector<EventChange> changes = changes_between(before, after);
  ASSERT_EQ(changes.size(), 1u);
  std::vector<std::pair<std::string, double>> deltas;
  for (const PlaceChange& symbol : changes[0].symbols) deltas.emplace_back(symbol.symbol, symbol.delta());
  EXPECT_THAT(deltas, ElementsAre(std::pair("added", 40.0), std::pair("gone", -30.0), std::pair("a", -10.0),
                                  std::pair("b", 0.0)));
  EXPECT_FALSE(changes[0].symbols[0].before_percent.has_value());
  EXPECT_FALSE(changes[0].symbols[1].after_percent.has_value());
  EXPECT_EQ(changes[0].symbols[3].before, (Weight{2, 10}));
  EXPECT_EQ(changes[0].before.period, 100u);
  EXPECT_EQ(changes[0].after.period, 200u);
}

TEST(Difference, EventsAreMatchedByName) {
  Report before = profile("/p", {{"a", 1}});
  Report after = profile("/p", {{"a", 3}});
  before.events.insert(before.events.begin(), Event{"branches", {1, 7}});
  before.symbols[0].weights = {{1, 7}, {1, 1}};
  ASSERT_EQ(changes_between(before, after).size(), 1u);
  EXPECT_EQ(changes_between(before, after)[0].event, "cycles");
  EXPECT_EQ(changes_between(before, after)[0].symbols[0].before_percent, 100.0);
  after.events[0].name = "instructions";
  EXPECT_TRUE(changes_between(before, after).empty());
}

// Exact counts are compared as numbers: b's share falls, and it costs more.
TEST(Difference, OfExactCountsIsInNumbers) {
  const Report before = profile("/p", {{"a", 100}, {"b", 100}});
  const Report after = profile("/p", {{"a", 300}, {"b", 110}});
  const Comparison comparison = compare({"x", before, {}}, {"y", after, {}}, Counting::exact);
  const std::vector<PlaceChange>& symbols = comparison.events.at(0).symbols;
  EXPECT_EQ(symbols.at(0).symbol, "a");
  EXPECT_EQ(symbols.at(0).more(), 200);
  EXPECT_EQ(symbols.at(1).more(), 10);
  EXPECT_LT(symbols.at(1).delta(), 0);
  const std::string text = difference_text(comparison, {});
  EXPECT_THAT(text, HasSubstr("# before: x\n# after:  y\n"));
  EXPECT_THAT(text, HasSubstr("               200                410   +105.00%  cycles\n"));
  EXPECT_THAT(text,
              HasSubstr("               100                110                +10    +10.00%    +5.00%  p"));
}

TEST(Difference, NotesSayWhichEventsAreOnOneSideOnly) {
  Report before = profile("/p", {{"a", 1}});
  const Report after = profile("/p", {{"a", 3}});
  before.events.push_back(Event{"branches", {1, 7}});
  before.symbols[0].weights.push_back({1, 7});
  EXPECT_THAT(compare({"x", before, {}}, {"y", after, {}}, Counting::sampled).notes,
              ElementsAre("branches: is in x only"));
}

/// `profile` with lines of its functions: 10 of the first, 20 of the second, and so on.
Report with_lines(Report report) {
  report.files.resize(1);
  report.files[0].path = "/src/a.c";
  for (u32 s = 0; s < report.symbols.size(); ++s)
    report.lines.push_back({{0, 10 * (s + 1)}, s, report.symbols[s].weights});
  return report;
}

TEST(Difference, LinesAreThoseOfTheirFunctions) {
  const Report before = with_lines(profile("/p", {{"a", 60}, {"b", 40}}));
  const Report after = with_lines(profile("/q/p", {{"a", 20}, {"b", 80}}));
  const EventChange change = changes_between(before, after).at(0);
  EXPECT_TRUE(changes_between(before, profile("/p", {{"a", 1}})).at(0).lines.at(0).after_percent ==
              std::nullopt);
  ASSERT_EQ(change.lines.size(), 2u);
  for (const PlaceChange& line : change.lines) {
    EXPECT_EQ(line.file, "a.c");
    EXPECT_EQ(line.line, line.symbol == "a" ? 10u : 20u);
    EXPECT_EQ(line.delta(), line.symbol == "a" ? -40 : 40);
  }
}

/// Stacks by name with the periods of both sides, as the flame graph draws them.
std::map<std::string, std::pair<u64, u64>> stacks_of(const Report& joined) {
  std::map<std::string, std::pair<u64, u64>> stacks;
  for (const StackNode& node : joined.stacks) {
    std::string name;
    for (const StackNode* at = &node; at->symbol != nothing; at = &joined.stacks[at->parent])
      name = joined.symbols[at->symbol].name + (name.empty() ? "" : ";") + name;
    stacks[name] = {node.total[0].period, node.total[1].period};
  }
  return stacks;
}

TEST(Difference, StacksOfBothSidesAreOneTree) {
  Report before = profile("/p", {{"main", 10}, {"f", 20}, {"gone", 5}});
  before.stack_source = StackSource::callchain;
  before.stacks = {{nothing, nothing, {{0, 0}}, {{3, 35}}},
                   {0, 0, {{1, 10}}, {{3, 35}}},
                   {1, 1, {{1, 20}}, {{1, 20}}},
                   {1, 2, {{1, 5}}, {{1, 5}}}};
  Report after = profile("/p", {{"f", 60}, {"main", 1}});  // numbered the other way round
  after.stack_source = StackSource::callchain;
  after.stacks = {
      {nothing, nothing, {{0, 0}}, {{2, 61}}}, {0, 1, {{1, 1}}, {{2, 61}}}, {1, 0, {{1, 60}}, {{1, 60}}}};
  const Report joined = compare({"x", before, {}}, {"y", after, {}}, Counting::sampled).joined;
  using Both = std::pair<u64, u64>;
  EXPECT_THAT(stacks_of(joined),
              ElementsAre(std::pair("", Both{35, 61}), std::pair("main", Both{35, 61}),
                          std::pair("main;f", Both{20, 60}), std::pair("main;gone", Both{5, 0})));
  for (const Symbol& symbol : joined.symbols)
    if (symbol.name == "main") {
      EXPECT_EQ(symbol.with_callees, (Weights{{3, 35}, {2, 61}}));
    }
  after.stack_source = StackSource::none;
  EXPECT_TRUE(compare({"x", before, {}}, {"y", after, {}}, Counting::sampled).joined.stacks.empty());
}

TEST(Difference, HostileNamesStayTextOnThePage) {
  const std::string name = "</script><img src=x>";
  Report report = with_lines(profile("/p/" + name, {{name, 1}}));
  report.files[0].path = name;
  report.events[0].name = name;
  const Comparison comparison = compare({name, report, {}}, {name, report, {}}, Counting::sampled);
  EXPECT_THAT(difference_html(comparison), Not(HasSubstr("<img")));
  EXPECT_THAT(difference_html(comparison), HasSubstr("\\u003cimg src=x>"));
}

// The example of R's t.test(): hours of sleep with two drugs, t = -1.8608, df = 17.776, p-value = 0.07939.
TEST(Difference, ChancesAreThoseOfWelchsTest) {
  const std::vector<double> first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  EXPECT_NEAR(chance_of_difference(first, second).value(), 0.07939, 0.00001);
  EXPECT_NEAR(chance_of_difference(second, first).value(), 0.07939, 0.00001);
  EXPECT_EQ(chance_of_difference({}, second), std::nullopt);
  EXPECT_EQ(chance_of_difference(std::vector{1.0}, second), std::nullopt);
  const std::vector<double> same{5, 5, 5}, other{6, 6};
  EXPECT_EQ(chance_of_difference(same, other), 0.0);
  EXPECT_EQ(chance_of_difference(same, same), 1.0);
}

}  // namespace
}  // namespace pmusim::annotate::difference_test

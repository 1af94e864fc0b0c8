// SPDX-License-Identifier: MIT
#include "annotate/difference.h"

#include <gmock/gmock.h>

namespace pmusim::annotate::difference_test {
namespace {

using testing::ElementsAre;

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

TEST(Difference, LargestChangesComeFirst) {
  const Report before = profile("/old/prog", {{"a", 60}, {"gone", 30}, {"b", 5}, {"b", 5}});
  const Report after = profile("/new/prog", {{"a", 100}, {"b", 20}, {"added", 80}});
  const std::vector<EventChange> changes = changes_between(before, after);
  ASSERT_EQ(changes.size(), 1u);
  std::vector<std::pair<std::string, double>> deltas;
  for (const SymbolChange& symbol : changes[0].symbols) deltas.emplace_back(symbol.symbol, symbol.delta());
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

}  // namespace
}  // namespace pmusim::annotate::difference_test

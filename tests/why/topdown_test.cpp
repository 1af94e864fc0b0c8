// SPDX-License-Identifier: MIT
// The top-down tree of pmusim why: what stat counts of a program, function by function.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "pmusim/base/types.h"
#include "session/topdown_tree.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test::why_topdown_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// A program with loads that miss, and one of many functions, each recorded once.
std::string trace_of(const std::string& program) {
  static const ScratchDirectory scratch;
  std::string trace = scratch.file(program + ".pmutrace");
  if (std::filesystem::exists(trace)) return trace;
  std::vector<std::string> command{pmusim(), "trace", "record", "-o", trace, "--"};
  if (program == "heap")
    command.insert(command.end(), {TEST_HEAP});
  else
    command.insert(command.end(), {TEST_PLANTED, program});
  EXPECT_EQ(run(command).status, 0);
  return trace;
}

json why(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {pmusim(), "why", "-q", "--json"});
  const Output output = run(arguments);
  EXPECT_EQ(output.status, 0) << output.err;
  return parse_json(output.out);
}

unsigned deepest(const std::string& model) {
  unsigned level = 1;
  while (level < deepest_topdown_level && topdown_metrics(*find_cpu_model(model), level + 1).ok()) ++level;
  return level;
}

json tree_of(const std::string& trace, const std::string& model, unsigned level,
             const std::string& functions = "100000") {
  return why({"--model", model, "--td-level", fmt::format("{}", level), "--td-functions", functions,
              trace})["topdown"];
}

/// Of all functions, as deep as the model's goes.
const json& whole_tree_of(const std::string& trace, const std::string& model) {
  static std::map<std::pair<std::string, std::string>, json> known;
  json& tree = known[{trace, model}];
  if (tree.is_null()) tree = tree_of(trace, model, deepest(model));
  return tree;
}

struct Stat {
  std::map<std::string, double> metrics;
  std::map<std::string, u64> events;
};

Stat stat(const std::string& trace, const std::string& model, unsigned level) {
  const Output output = run({pmusim(), "stat", "--json", "--topdown", "--td-level", fmt::format("{}", level),
                             "--model", model, trace});
  EXPECT_EQ(output.status, 0) << output.err;
  const json document = parse_json(output.out);
  Stat counted;
  for (const json& metric : document["metrics"]) counted.metrics[metric["metric"]] = metric["value"];
  for (const json& event : document["events"]) counted.events[event["event"]] = event["value"];
  return counted;
}

/// By name, down to a level.
std::map<std::string, double> shares(const json& part, unsigned level = deepest_topdown_level) {
  std::map<std::string, double> all;
  for (const json& node : part["nodes"])
    if (!node["percent"].is_null() && node["level"] <= level) all[node["metric"]] = node["percent"];
  return all;
}

/// All that are behind a node.
std::map<std::string, u64> events(const json& part) {
  std::map<std::string, u64> all;
  for (const json& node : part["nodes"])
    for (const auto& [name, value] : node["events"].items())
      if (!value.is_null()) all[name] = value;
  return all;
}

class WhyTopdown : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  std::string trace() const { return trace_of(std::get<0>(GetParam())); }
  std::string model() const { return std::get<1>(GetParam()); }
};

TEST_P(WhyTopdown, OfTheWholeIsWhatStatCounts) {
  const Stat counted = stat(trace(), model(), deepest(model()));
  const json& whole = whole_tree_of(trace(), model())["whole"];
  EXPECT_EQ(events(whole), counted.events);
  EXPECT_EQ(shares(whole), counted.metrics);
}

// PERF_METRICS has the whole program's in 255ths, and what is left to round is one at most for each byte.
TEST_P(WhyTopdown, OfFunctionsAddUpToTheWhole) {
  const json& tree = whole_tree_of(trace(), model());
  std::map<std::string, u64> sums;
  u64 slots = 0;
  for (const json& function : tree["functions"]) {
    slots += function["slots"].get<u64>();
    for (const auto& [name, value] : events(function)) sums[name] += value;
  }
  EXPECT_EQ(slots, tree["whole"]["slots"].get<u64>());
  const bool in_255ths = find_cpu_model(model())->metrics_levels != 0;
  for (const auto& [name, value] : events(tree["whole"])) {
    const u64 rounded = name == "task-clock"                        ? tree["functions"].size()
                        : in_255ths && name.starts_with("topdown-") ? slots / 128
                                                                    : 0;
    EXPECT_NEAR(static_cast<double>(sums[name]), static_cast<double>(value), static_cast<double>(rounded))
        << name;
  }
}

/// What a share of level one is a share of: all slots, or, where each category is counted by an event of its
/// own, the four together. On small cores a part may have a few more or less of these than slots, as the
/// slots of a cycle in which two functions retire are the second one's.
double weight(const json& part) {
  const std::map<std::string, u64> counted = events(part);
  u64 sum = 0;
  for (const char* name : {"topdown-retiring", "topdown-bad-spec", "topdown-fe-bound", "topdown-be-bound"}) {
    if (!counted.contains(name)) return part["slots"].get<double>();
    sum += counted.at(name);
  }
  return static_cast<double>(sum);
}

// No share is below 0.
TEST_P(WhyTopdown, LevelOneWeightedIsTheWholes) {
  const json& tree = whole_tree_of(trace(), model());
  const auto sum_of = [](const std::map<std::string, double>& all) {
    double sum = 0;
    for (const auto& [name, percent] : all) sum += percent;
    return sum;
  };
  std::map<std::string, double> weighted;
  const double all = weight(tree["whole"]);
  for (const json& function : tree["functions"]) {
    for (const auto& [name, percent] : shares(function, 1))
      weighted[name] += percent * weight(function) / all;
    if (weight(function) > all / 100) {
      EXPECT_NEAR(sum_of(shares(function, 1)), 100, 1e-9) << function["function"];
    }
  }
  const std::map<std::string, double> whole = shares(tree["whole"], 1);
  ASSERT_EQ(whole.size(), 4u);
  EXPECT_NEAR(sum_of(whole), 100, 1e-9);
  const double rounded = find_cpu_model(model())->metrics_levels != 0 ? 100.0 / 128 : 0.01;
  for (const auto& [name, percent] : whole) EXPECT_NEAR(weighted[name], percent, rounded) << name;
}

INSTANTIATE_TEST_SUITE_P(Programs, WhyTopdown,
                         testing::Combine(testing::Values("cache_misses", "heap"),
                                          testing::Values("haswell", "skylake", "icelake-server",
                                                          "sapphirerapids", "goldmont", "gracemont",
                                                          "skymont")),
                         [](const auto& parameters) {
                           std::string name = fmt::format("{}_{}", std::get<0>(parameters.param),
                                                          std::get<1>(parameters.param));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

/// Every model counts by sums whatever its tree asks for.
TEST(WhyTopdownTree, CountsAllItsEventsOnEveryModel) {
  for (const Vendor vendor : {Vendor::intel, Vendor::amd})
    for (const CpuModel& model : cpu_models(vendor)) {
      const unsigned level = deepest(model.name);
      const auto tree = TopdownTree::create(model, level, {.addresses = true});
      if (!tree.ok()) continue;
      for (const TopdownTree::Event& event : tree->events())
        EXPECT_EQ(event.not_counted, "") << model.name << " " << event.parsed.name;
      EXPECT_GE(tree->nodes().size(), topdown_metrics(model, level)->size());
    }
}

/// A node is behind its parent, and before whatever is no deeper than that.
TEST(WhyTopdownTree, HasChildrenBehindTheirParents) {
  const auto tree = TopdownTree::create(*find_cpu_model("skylake"), 6, {.addresses = true});
  ASSERT_TRUE(tree.ok());
  std::vector<std::string_view> path;
  for (const TopdownTree::Node& node : tree->nodes()) {
    path.resize(node.metric->level - 1);
    EXPECT_EQ(path.empty() ? "" : path.back(), node.metric->parent) << node.metric->name;
    path.push_back(node.metric->name);
  }
}

TEST(WhyTopdownNode, WhoseEventsAreNotKnownSaysSo) {
  const ScratchDirectory scratch;
  const std::string trace = scratch.file("T");
  ASSERT_EQ(run({pmusim(), "trace", "record", "--no-addresses", "-o", trace, "--", TEST_PLANTED, "division"})
                .status,
            0);
  const json tree = tree_of(trace, "skylake", 3, "1");
  const auto node = [&](const std::string& name) {
    for (const json& each : tree["whole"]["nodes"])
      if (each["metric"] == name) return each;
    return json();
  };
  EXPECT_TRUE(node("tma_l2_bound")["percent"].is_null());
  EXPECT_THAT(node("tma_l2_bound")["not_counted"].get<std::string>(),
              HasSubstr("needs the addresses of data accesses"));
  EXPECT_TRUE(node("tma_divider")["percent"].is_number());
  const Output text = run({pmusim(), "why", "-q", "--model", "skylake", "--td-level", "3", trace});
  EXPECT_THAT(text.out,
              testing::ContainsRegex("- +tma_l2_bound: not counted, [A-Z_0-9.]+ needs the addresses"));
}

TEST(WhyTopdownLevel, ZeroLeavesTheTreeOut) {
  const std::string trace = trace_of("cache_misses");
  EXPECT_TRUE(why({"--td-level", "0", trace})["topdown"].is_null());
  EXPECT_THAT(run({pmusim(), "why", "-q", "--td-level", "0", trace}).out, Not(HasSubstr("Top-down")));
  EXPECT_THAT(run({pmusim(), "why", "-q", trace}).out, HasSubstr("Top-down"));
}

TEST(WhyTopdownLevel, ThatAModelLacksIsASentence) {
  const std::string trace = trace_of("cache_misses");
  for (const char* const model : {"nehalem", "genoa", "bonnell"}) {
    EXPECT_THAT(run({pmusim(), "why", "-q", "--model", model, trace}).out,
                HasSubstr("cannot count the events of 'TopdownL1'"))
        << model;
    EXPECT_THAT(why({"--model", model, trace})["topdown"]["problem"].get<std::string>(),
                HasSubstr("cannot count"))
        << model;
    const Output refused = run({pmusim(), "why", "-q", "--td-level", "1", "--model", model, trace});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--td-level 1: ")) << model;
  }
  const Output deep = run({pmusim(), "why", "-q", "--td-level", "2", "--model", "silvermont", trace});
  EXPECT_EQ(deep.status, 2);
  EXPECT_THAT(deep.err, HasSubstr("--td-level 2: Silvermont counts level 1 only"));
  const Output beyond = run({pmusim(), "why", "-q", "--td-level", "7", trace});
  EXPECT_EQ(beyond.status, 2);
  EXPECT_THAT(beyond.err, HasSubstr("--td-level 7: there are levels 1 to 6, and 0 leaves the tree out"));
}

TEST(WhyTopdownText, MarksWhatStandsOutAndNamesEvents) {
  const std::string trace = trace_of("cache_misses");
  const Output text = run(
      {pmusim(), "why", "-q", "-v", "--model", "skylake", "--td-level", "3", "--td-functions", "1", trace});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, testing::ContainsRegex("[0-9.]+\\* +[0-9.]+\\* +tma_dram_bound"));
  EXPECT_THAT(text.out, testing::ContainsRegex("#1  cache_misses \\(planted\\), [0-9]+% of all slots"));
  EXPECT_THAT(text.out, HasSubstr("CYCLE_ACTIVITY.STALLS_L3_MISS"));
  EXPECT_THAT(run({pmusim(), "why", "-q", "--model", "skylake", "--td-level", "3", trace}).out,
              Not(HasSubstr("CYCLE_ACTIVITY.STALLS_L3_MISS")));
}

TEST(WhyTopdownFunctions, AreTheHottestOrTheOneAskedFor) {
  const std::string trace = trace_of("heap");
  const json report = why({"--td-functions", "2", trace});
  ASSERT_EQ(report["topdown"]["functions"].size(), 2u);
  for (std::size_t n = 0; n < 2; ++n)
    EXPECT_EQ(report["topdown"]["functions"][n]["function"], report["functions"][n]["name"]);
  const json one = why({trace, "main"});
  ASSERT_EQ(one["topdown"]["functions"].size(), 1u);
  EXPECT_EQ(one["topdown"]["functions"][0]["function"], "main");
}

}  // namespace
}  // namespace pmusim::test::why_topdown_test

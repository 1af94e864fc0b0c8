// SPDX-License-Identifier: MIT
#include "session/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "pmusim/session/stat.h"
#include "session/metric_formula.h"
#include "session/metric_table.h"
#include "session/metric_thresholds.h"
#include "tests/session/walk.h"

namespace pmusim {
namespace {

std::optional<double> value_of(std::string_view formula) {
  const std::map<std::string_view, double> known{{"A.B", 6}, {"c-d", 4}, {"zero", 0}, {"cpu/x,cmask=1/", 3}};
  return formula_value(formula, [&](std::string_view name) {
    const auto found = known.find(name);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(MetricFormula, HasTheUsualPrecedence) {
  EXPECT_EQ(value_of("1 + 2 * A.B - 4 / 2"), 11);
  EXPECT_EQ(value_of("(1 + 2) * A.B - c-d"), 14);
  EXPECT_EQ(value_of("min(A.B, c-d) + max(1, 0.5)"), 5);
  EXPECT_EQ(value_of("if_less(c-d, A.B, 1, 2)"), 1);
  EXPECT_EQ(value_of("if_less(A.B, c-d, 1, 2)"), 2);
  EXPECT_EQ(value_of("2 * {cpu/x,cmask=1/} / {A.B}"), 1);
}

TEST(MetricFormula, HasNoValueWhereAPartHasNone) {
  EXPECT_EQ(value_of("A.B / zero"), std::nullopt);
  EXPECT_EQ(value_of("A.B + unknown"), std::nullopt);
  EXPECT_EQ(value_of("if_less(1, 2, 3, A.B / zero)"), 3);
  for (const char* text : {"", "1 +", "(1", "1)", "min(1)", "1 2", "if_less(1, 2, 3)", "{}", "{A.B"})
    EXPECT_EQ(value_of(text), std::nullopt) << text;
}

TEST(MetricFormula, NamesAreListedOnce) {
  EXPECT_THAT(formula_names("A.B / (A.B + c-d) - min(x:u, {cpu/y,edge/})"),
              testing::ElementsAre("A.B", "c-d", "x:u", "cpu/y,edge/"));
}

TEST(MetricTable, HasFormulasThatCanBeRead) {
  for (const FormulaMetric& row : formula_metrics())
    EXPECT_TRUE(formula_value(row.formula, [n = 1.0](std::string_view) mutable { return n += 1; }))
        << row.name;
  for (const FormulaTerm& term : formula_terms())
    EXPECT_TRUE(formula_value(term.formula, [n = 1.0](std::string_view) mutable { return n += 1; }))
        << term.name;
}

TEST(MetricTable, HasAParentOneLevelUpForEachNode) {
  for (const Metric& node : metrics()) {
    if (node.level < 2) continue;
    bool found = false;
    for (const Metric& other : metrics())
      if (other.name == node.parent) {
        found = true;
        EXPECT_LT(other.level, node.level) << node.name;
      }
    EXPECT_TRUE(found) << node.name << " is a child of " << node.parent;
  }
}

std::vector<const Metric*> all_metrics_of(const CpuModel& model) {
  std::set<std::string_view> groups;
  for (const Metric& metric : metrics()) groups.insert(metric.group);
  std::string list;
  for (const std::string_view group : groups) list += (list.empty() ? "" : ",") + std::string(group);
  return find_metrics(list, model, MissingEvents::passed_over).value();
}

TEST(Metrics, AreManyOnModelsWithManyEvents) {
  EXPECT_GE(all_metrics_of(find_cpu_model("skylake").value()).size(), 150u);
  EXPECT_GE(all_metrics_of(find_cpu_model("icelake-server").value()).size(), 200u);
}

/// The metrics of a model, counted over a made program.
class CountedMetrics {
 public:
  CountedMetrics(std::string_view model_name, u64 seed) : model_(find_cpu_model(model_name).value()) {
    const auto wanted = all_metrics_of(model_);
    auto session = Session::open(std::make_unique<test::Walk>(seed, 4000, test::Walk::Registers::unknown,
                                                              test::Walk::Addresses::known),
                                 {.model = model_})
                       .value();
    StatOptions options{.events = events::parse_events(metric_events(wanted, model_), model_).value()};
    options.uncountable = Uncountable::shown;
    const StatReport report = stat(session, options).value();
    totals_ = report.events;
    for (const Metric* const metric : wanted)
      if (const auto value = metric_value(*metric, totals_, model_)) values_[metric->name] = *value;
  }
  bool has(std::string_view name) const { return values_.contains(name); }
  double operator[](std::string_view name) const { return values_.at(name); }
  const std::map<std::string_view, double>& all() const { return values_; }
  std::optional<bool> stands_out(std::string_view name) const {
    for (const Metric* const metric : all_metrics_of(model_))
      if (metric->name == name) return pmusim::stands_out(*metric, values_.at(name), totals_, model_);
    return std::nullopt;
  }

 private:
  CpuModel model_;
  std::vector<EventTotal> totals_;
  std::map<std::string_view, double> values_;
};

void expect_sum(const CountedMetrics& metrics, std::string_view whole,
                std::initializer_list<std::string_view> parts) {
  double sum = 0;
  for (const std::string_view part : parts) {
    if (!metrics.has(part)) return;
    sum += metrics[part];
  }
  EXPECT_NEAR(sum, metrics[whole], 1e-6) << whole;
}

class MetricTree : public testing::TestWithParam<const char*> {};

TEST_P(MetricTree, ChildrenAddUpToTheirParent) {
  for (const u64 seed : {3, 17, 99}) {
    const CountedMetrics m(GetParam(), seed);
    double first = 0;
    for (const std::string_view name :
         {"tma_retiring", "tma_bad_speculation", "tma_frontend_bound", "tma_backend_bound"}) {
      ASSERT_TRUE(m.has(name)) << name;
      first += m[name];
    }
    EXPECT_NEAR(first, 100, 1e-6);
    expect_sum(m, "tma_frontend_bound", {"tma_fetch_latency", "tma_fetch_bandwidth"});
    expect_sum(m, "tma_frontend_bound", {"tma_ifetch_latency", "tma_ifetch_bandwidth"});
    expect_sum(m, "tma_backend_bound", {"tma_memory_bound", "tma_core_bound"});
    expect_sum(m, "tma_bad_speculation", {"tma_branch_mispredicts", "tma_machine_clears"});
    expect_sum(m, "tma_backend_bound", {"tma_load_store_bound", "tma_core_bound"});
    expect_sum(m, "tma_retiring", {"tma_heavy_operations", "tma_light_operations"});
    expect_sum(m, "tma_retiring", {"tma_ms_uops", "tma_base"});
    expect_sum(m, "tma_machine_clears", {"tma_nuke"});
    expect_sum(m, "tma_heavy_operations", {"tma_microcode_sequencer", "tma_few_uops_instructions"});
    expect_sum(m, "tma_divider", {"tma_fp_divider", "tma_int_divider"});
    expect_sum(m, "tma_dtlb_load", {"tma_load_stlb_hit", "tma_load_stlb_miss"});
  }
}

// The third level of small cores, as far as the core knows it (docs/metrics.md).
TEST(MetricTreeOfSmallCores, HasTheLevelsThatLoadsWaitFor) {
  for (const char* const model : {"gracemont", "crestmont", "skymont"}) {
    const CountedMetrics m(model, 7);
    for (const char* const node : {"tma_l1_bound", "tma_l2_bound", "tma_l3_bound", "tma_dram_bound",
                                   "tma_store_bound", "tma_other_load_store", "tma_nuke"})
      EXPECT_TRUE(m.has(node)) << model << " " << node;
    EXPECT_GT(m["tma_dram_bound"], 0) << model;
    EXPECT_NEAR(m["tma_info_load_store_bound_load_bound"],
                m["tma_l1_bound"] + m["tma_l2_bound"] + m["tma_l3_bound"] + m["tma_dram_bound"], 1e-6)
        << model;
  }
}

TEST_P(MetricTree, SharesLieBetweenNothingAndAll) {
  const CountedMetrics m(GetParam(), 5);
  for (const Metric& node : metrics())
    if (node.level == 1 && m.has(node.name)) {
      EXPECT_GE(m[node.name], 0) << node.name;
      EXPECT_LE(m[node.name], 100) << node.name;
    }
}

// The method's rule: a node above its threshold is of interest where its parents are.
TEST_P(MetricTree, NodesStandOutOnlyBelowParentsThatDo) {
  const CountedMetrics m(GetParam(), 21);
  unsigned above = 0;
  for (const auto& [node, parent] : {std::pair("tma_fetch_latency", "tma_frontend_bound"),
                                     {"tma_ifetch_latency", "tma_frontend_bound"},
                                     {"tma_icache_misses", "tma_fetch_latency"},
                                     {"tma_branch_resteers", "tma_fetch_latency"},
                                     {"tma_memory_bound", "tma_backend_bound"},
                                     {"tma_l1_bound", "tma_memory_bound"},
                                     {"tma_dram_bound", "tma_memory_bound"},
                                     {"tma_load_store_bound", "tma_backend_bound"},
                                     {"tma_l1_bound", "tma_load_store_bound"},
                                     {"tma_dram_bound", "tma_load_store_bound"},
                                     {"tma_mem_latency", "tma_dram_bound"}}) {
    if (!m.has(node) || !m.has(parent) || !m.stands_out(node).value()) continue;
    ++above;
    EXPECT_GT(m[node], 4.9) << node;
    EXPECT_TRUE(m.stands_out(parent).value()) << node;
  }
  const bool is_small = !m.has("tma_fetch_latency");
  EXPECT_TRUE(is_small || above > 0);
  EXPECT_EQ(m.stands_out("tma_backend_bound"), m["tma_backend_bound"] > (is_small ? 10 : 20));
  EXPECT_EQ(m.stands_out("insn_per_cycle"), std::nullopt);
}

TEST_P(MetricTree, RatiosAreInversesOfEachOther) {
  const CountedMetrics m(GetParam(), 8);
  const bool is_small = m.has("tma_info_core_ipc");
  const double ipc = m[is_small ? "tma_info_core_ipc" : "tma_info_thread_ipc"];
  EXPECT_NEAR(ipc * m[is_small ? "tma_info_core_cpi" : "tma_info_thread_cpi"], 1, 1e-9);
  EXPECT_NEAR(ipc, m["insn_per_cycle"], 1e-9);
  for (const auto& [name, value] : m.all()) EXPECT_TRUE(std::isfinite(value)) << name;
}

INSTANTIATE_TEST_SUITE_P(Models, MetricTree,
                         testing::Values("sandybridge", "ivybridge", "haswell", "broadwell", "skylake",
                                         "cascadelake", "icelake", "icelake-server", "goldencove",
                                         "sapphirerapids", "lioncove", "gracemont", "crestmont", "skymont",
                                         "darkmont"),
                         [](const auto& suite) {
                           std::string name = suite.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace pmusim

// SPDX-License-Identifier: MIT
// The groups of events that pmu-tools' toplev asks perf for, level by level (toplev_groups.txt), are counted
// by perf under `pmusim run`.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

/// A line of toplev_groups.txt.
struct ToplevGroup {
  std::string nodes;
  std::vector<std::string> events;
  std::vector<std::string> not_here;  ///< of these, those that nothing here can produce
};

std::vector<ToplevGroup> toplev_groups(const std::string& model, unsigned level) {
  std::vector<ToplevGroup> groups;
  std::ifstream file(TOPLEV_GROUPS);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string of_model, event;
    unsigned of_level = 0;
    ToplevGroup group;
    if (!(words >> of_model >> of_level >> group.nodes) || of_model != model || of_level != level) continue;
    while (words >> event) {
      if (event[0] == '!') group.not_here.push_back(event = event.substr(1));
      group.events.push_back(event);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

/// What perf stat -x';' says of an event.
struct PerfCount {
  std::string count, event, running_ns, percent;
};

std::vector<PerfCount> perf_counts(const std::string& text) {
  std::vector<PerfCount> all;
  for (const std::string& line : lines(text)) {
    std::vector<std::string> fields;
    std::istringstream rest(line);
    for (std::string field; std::getline(rest, field, ';');) fields.push_back(field);
    if (fields.size() >= 5 && !line.starts_with("#"))
      all.push_back({fields[0], fields[2], fields[3], fields[4]});
  }
  return all;
}

u64 to_number(const PerfCount& counted) { return std::stoull(counted.count); }

class Toplev : public LiveWithPerf, public testing::WithParamInterface<const char*> {
 protected:
  /// As toplev --no-multiplex does: perf for each group, with the group as toplev writes it.
  std::vector<std::vector<PerfCount>> counted(const std::vector<ToplevGroup>& groups) {
    std::ofstream script(file("script"));
    for (std::size_t n = 0; n < groups.size(); ++n)
      script << fmt::format("perf stat -x';' -o {} -e '{{{}}}' {} || exit\n", file(fmt::format("{}", n)),
                            fmt::join(groups[n].events, ","), brief_program);
    script.close();
    output_ = run_live({"sh", file("script")}, {"--model", GetParam(), "--uncounted-zero"});
    EXPECT_EQ(output_.status, 0) << output_.err;
    std::vector<std::vector<PerfCount>> all;
    for (std::size_t n = 0; n < groups.size(); ++n)
      all.push_back(perf_counts(read_file(file(fmt::format("{}", n)))));
    return all;
  }

  Output output_;
};

// What ! marks reads 0 and is named at the end with its reason, and nothing else is.
TEST_P(Toplev, GroupsOfEachLevelAreCountedWhole) {
  std::set<std::string> not_here;  // a name stands for an event with all conditions on it
  std::set<std::string> named;
  for (unsigned level = 1; level <= 4; ++level) {
    const std::vector<ToplevGroup> groups = toplev_groups(GetParam(), level);
    ASSERT_FALSE(groups.empty()) << level;
    const auto counts = counted(groups);
    for (std::size_t n = 0; n < groups.size(); ++n) {
      ASSERT_EQ(counts[n].size(), groups[n].events.size()) << groups[n].nodes;
      for (std::size_t i = 0; i < counts[n].size(); ++i) {
        const std::string what = groups[n].nodes + ": " + groups[n].events[i];
        EXPECT_NE(counts[n][i].count[0], '<') << what << " " << counts[n][i].count;
        EXPECT_EQ(counts[n][i].percent, "100.00") << what;
        EXPECT_EQ(counts[n][i].running_ns, counts[n][0].running_ns) << what << ": the group is broken up";
        if (std::ranges::count(groups[n].not_here, groups[n].events[i]) == 0) continue;
        EXPECT_EQ(counts[n][i].count, "0") << what;
        not_here.insert(groups[n].events[i].substr(0, groups[n].events[i].find(",cmask")));
      }
    }
    for (const std::string& line : lines(output_.err))
      if (line.find("read 0: ") != std::string::npos) named.insert(line);
  }
  EXPECT_GT(named.size(), 0u);
  EXPECT_EQ(named.size(), not_here.size()) << fmt::format("{}", fmt::join(named, "\n"));
}

/// Slots of each level by what became of them.
TEST_P(Toplev, LevelsDivideTheSlots) {
  const std::string model = GetParam();
  const std::vector<ToplevGroup> first = toplev_groups(model, 1), second = toplev_groups(model, 2);
  const auto all_of = [&](const std::vector<ToplevGroup>& groups, const std::string& node) {
    const auto group = std::ranges::find_if(groups, [&](const ToplevGroup& g) {
      return ("," + g.nodes + ",").find("," + node + ",") != std::string::npos;
    });
    EXPECT_NE(group, groups.end()) << node;
    std::map<std::string, u64> counts;
    const auto groups_counts = counted({*group});
    for (const PerfCount& each : groups_counts.at(0)) {
      std::string event = each.event;
      event.erase(std::min(event.find_last_not_of(":u") + 1, event.size()));
      counts[event] = to_number(each);
    }
    return counts;
  };
  if (model == "skylake") {
    const auto m = all_of(first, "Retiring");
    const u64 slots = 4 * m.at("cycles"), retired = m.at("cpu/event=0xc2,umask=0x2/"),
              issued = m.at("cpu/event=0xe,umask=0x1/"), undelivered = m.at("cpu/event=0x9c,umask=0x1/"),
              recovering = 4 * m.at("cpu/event=0xd,umask=0x1/");
    EXPECT_GT(retired, 0u);
    EXPECT_GE(issued, retired);
    EXPECT_LE(undelivered + (issued - retired) + recovering + retired, slots);
    const auto latency = all_of(second, "Frontend_Latency");
    EXPECT_LE(4 * latency.at("cpu/event=0x9c,umask=0x1,cmask=4/"), latency.at("cpu/event=0x9c,umask=0x1/"));
    return;
  }
  const auto m = all_of(first, model == "icelake" ? "Frontend_Bound_Fixed" : "Frontend_Bound");
  const u64 sum = m.at("topdown-retiring") + m.at("topdown-bad-spec") + m.at("topdown-fe-bound") +
                  m.at("topdown-be-bound");
  // The metrics are bytes: a share is known to 1/255 of the slots.
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(m.at("slots")),
              4.0 / 255 * static_cast<double>(m.at("slots")));
  if (model == "icelake") return;
  const auto halves = all_of(second, "Fetch_Latency");
  for (const auto& [part, whole] : {std::pair("topdown-fetch-lat", "topdown-fe-bound"),
                                    {"topdown-br-mispredict", "topdown-bad-spec"},
                                    {"topdown-mem-bound", "topdown-be-bound"},
                                    {"topdown-heavy-ops", "topdown-retiring"}})
    EXPECT_LE(halves.at(part), halves.at(whole)) << part;
}

// What toplev asks perf before it measures.
TEST_P(Toplev, FindsThePmuItAsksFor) {
  const std::vector<std::string> model{"--model", GetParam(), "--uncounted-zero"};
  EXPECT_EQ(run_live({"perf", "stat", "--log-fd", "2", brief_program}, model).status, 0);
  const std::string off_core = std::string(GetParam()) == "sapphirerapids" ? "0x2a" : "0xb7";
  const Output response = run_live(
      {"perf", "stat", "-e",
       fmt::format("{{cpu/event={},umask=1,offcore_rsp=0x123/,instructions}}", off_core), brief_program},
      model);
  EXPECT_EQ(response.status, 0) << response.err;
  EXPECT_EQ(run_live({"cat", "/sys/devices/cpu/caps/max_precise"}, model).out, "3\n");
}

INSTANTIATE_TEST_SUITE_P(Models, Toplev, testing::Values("skylake", "icelake", "sapphirerapids"),
                         [](const auto& suite) { return std::string(suite.param); });

TEST_F(LiveWithPerf, UncountedEventsLeadGroupsOnRequest) {
  const std::vector<std::string> stat{
      "perf", "stat", "-x;", "-e", "{cpu/event=0xca,umask=0x1e,cmask=1/,cycles}", brief_program};
  EXPECT_NE(run_live(stat, {"--model", "skylake"}).status, 0);
  const Output counted = run_live(stat, {"--model", "skylake", "--uncounted-zero"});
  EXPECT_EQ(counted.status, 0) << counted.err;
  EXPECT_THAT(counted.err, HasSubstr("read 0: FP_ASSIST.ANY"));
  EXPECT_THAT(counted.err, testing::ContainsRegex("\n[1-9][0-9]*;;cycles:u;"));
}

}  // namespace
}  // namespace pmusim::test

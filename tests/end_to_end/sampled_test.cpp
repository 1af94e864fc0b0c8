// SPDX-License-Identifier: MIT
// `--core sampled` as a user has it, over recorded programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "command.h"
#include "tests/support/dice.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* timed_events = "cycles,uops_issued.any,idq.mite_uops,L1-dcache-load-misses";

json stat(const std::string& trace, const std::string& core, const std::string& events,
          const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{pmusim(), "stat", "--json", "-e", events, "--core", core};
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.push_back(trace);
  const Output output = run(arguments);
  EXPECT_EQ(output.status, 0) << output.err;
  return output.status == 0 ? parse_json(output.out) : json();
}

bool is_within(const json& estimated, const json& whole) {
  const double value = estimated["value"].get<double>(),
               half = estimated["estimate"]["half_width"].get<double>();
  return std::abs(value - whole["value"].get<double>()) <= half;
}

class SampledReplay : public testing::Test {
 protected:
  /// The first four million instructions of a program on some text.
  std::string recorded_program(std::vector<std::string> program) const {
    if (!std::filesystem::exists(text_)) {
      std::ofstream text(text_);
      for (unsigned n = 1; n <= 40'000; ++n)
        text << n * 7919 % 10007 << " word" << n % 97 << ' ' << n << '\n';
    }
    const std::string trace = scratch_.file(program.front() + ".pmutrace");
    program.insert(program.begin(),
                   {pmusim(), "trace", "record", "--fast", "--count", "4000000", "-o", trace, "--"});
    const Output output = run(program);
    EXPECT_THAT(output.err, HasSubstr("recorded 4,000,0"));
    return trace;
  }
  std::string gzip() const { return recorded_program({"gzip", "-c", text_}); }

  ScratchDirectory scratch_;
  std::string text_ = scratch_.file("text");
};

/// The clock goes by the windows, too: at the end it shows the estimated cycles.
TEST_F(SampledReplay, TimeIsThatOfTheEstimatedCycles) {
  const std::string trace = gzip();
  const auto hertz = [](const json& counted) {
    return counted["events"][0]["value"].get<double>() / counted["elapsed_ns"].get<double>();
  };
  const double whole = hertz(stat(trace, "interval", "cycles"));
  for (const char* core : {"sampled:500,1000,20000", "sampled:1000,1000,100000"})
    EXPECT_NEAR(hertz(stat(trace, core, "cycles")), whole, 0.03 * whole) << core;
}

// 99 of 100 is what is promised, and 95 what windows that come at equal distances must keep.
TEST_F(SampledReplay, IntervalsHoldTheCountsOfTheWholeCore) {
  const std::vector<std::string> traces{
      gzip(), recorded_program({"sort", "-n", text_}),
      recorded_program({"awk", "{s[$2]+=$1} END {for (k in s) print k, s[k]}", text_}),
      recorded_program({"bash", "-c",
                        "for ((i=0;i<20000;i++)); do x=$((x*31+i)); [ $((x%7)) = 0 ] && y=$y$i; y=${y:0:20}; "
                        "done; echo $y"})};
  Dice dice(41);
  std::map<std::string, unsigned> held;
  unsigned runs = 0;
  for (const std::string& trace : traces) {
    const json whole = stat(trace, "interval", timed_events);
    const u64 length = whole["instructions_replayed"].get<u64>();
    for (unsigned n = 0; n < 25; ++n, ++runs) {
      const u64 detail = 300 + dice.below(1000), warm = 500 + dice.below(1000);
      const u64 every = detail + warm + dice.below(length / 400), first = dice.below(every);
      const json sampled =
          stat(trace, fmt::format("sampled:{},{},{},{}", detail, warm, every, first), timed_events);
      for (std::size_t i = 0; i < whole["events"].size(); ++i)
        held[whole["events"][i]["event"]] += is_within(sampled["events"][i], whole["events"][i]);
    }
  }
  EXPECT_EQ(runs, 100u);
  for (const auto& [event, times] : held) EXPECT_GE(times, 95u) << event;
}

TEST_F(SampledReplay, ChoosesWindowsByError) {
  const std::string trace = gzip();
  const json whole = stat(trace, "interval", "cycles");
  const json sampled = stat(trace, "sampled:400,400,1000000", "cycles", {"--error", "6%"});
  const json& cycles = sampled["events"][0];
  EXPECT_LE(cycles["estimate"]["half_width"].get<double>(), 0.06 * cycles["value"].get<double>());
  EXPECT_TRUE(is_within(cycles, whole["events"][0]));
  EXPECT_EQ(sampled, stat(trace, "sampled:400,400,1000000", "cycles", {"--error", "6%"}));
}

TEST_F(SampledReplay, ShowsWhatIsEstimated) {
  const std::string trace = recorded("branches", {"2000"});
  const Output output = run({pmusim(), "stat", "--core", "sampled:200,200,2000", trace});
  EXPECT_THAT(output.err, testing::ContainsRegex("cycles +\\( \\+- .*%"));
  EXPECT_THAT(output.err, HasSubstr("windows: what has +- is estimated"));
  EXPECT_THAT(output.err, testing::Not(testing::ContainsRegex("branch-misses [^\n]*\\+-")));
}

/// Shares of samples by 256 bytes of code, of their weights.
std::map<std::string, double> shares(const std::string& file) {
  std::map<std::string, double> weights;
  double all = 0;
  std::istringstream lines(run({pmusim(), "script", "-i", file, "-F", "period,ip"}).out);
  double period = 0;
  for (std::string place; lines >> period >> place; all += period)
    weights[place.substr(0, place.size() - 2)] += period;
  for (auto& [place, weight] : weights) weight /= all;
  return weights;
}

TEST_F(SampledReplay, ProfilesHaveTheSharesOfTheWholeCore) {
  const std::string trace = gzip();
  const auto profile = [&](const std::string& core) {
    const std::string out = scratch_.file("perf.data");
    EXPECT_EQ(
        run({pmusim(), "record", "-q", "-e", "cycles:upp", "-c", "211", "--core", core, "-o", out, trace})
            .status,
        0);
    return shares(out);
  };
  const auto whole = profile("interval"), sampled = profile("sampled:1000,1000,5000");
  ASSERT_GT(whole.size(), 5u);
  double differing = 0;
  for (const auto& [place, share] : whole)
    differing += std::abs(share - (sampled.contains(place) ? sampled.at(place) : 0));
  for (const auto& [place, share] : sampled) differing += whole.contains(place) ? 0 : share;
  EXPECT_LT(differing / 2, 0.1);
}

TEST_F(SampledReplay, RefusesWhatItCannotTell) {
  const std::string trace = recorded("branches", {"200"});
  const auto refusal = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {pmusim(), "stat", "--core"});
    options.push_back(trace);
    const Output output = run(options);
    EXPECT_NE(output.status, 0);
    return output.err;
  };
  EXPECT_THAT(refusal({"sampled:0,1,2"}), HasSubstr("windows of 0 instructions count nothing"));
  EXPECT_THAT(refusal({"sampled:10,10,19"}), HasSubstr("do not fit into every 19"));
  EXPECT_THAT(refusal({"sampled:10"}), HasSubstr("expected sampled:DETAIL,WARM,EVERY"));
  EXPECT_THAT(refusal({"sampled", "--per-thread"}), HasSubstr("counts by thread"));
  EXPECT_THAT(refusal({"sampled", "--error", "0"}), HasSubstr("expected percent above 0"));
  EXPECT_THAT(refusal({"interval", "--error", "1%"}), HasSubstr("--error: is of core 'sampled'"));
  EXPECT_THAT(refusal({"sampled", "--machine", "icelake:2c2t"}), HasSubstr("windows of one CPU"));
}

}  // namespace
}  // namespace pmusim::test

// SPDX-License-Identifier: MIT
// pmusim diff beside perf diff.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test::diff_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DiffTest : public testing::Test {
 protected:
  std::string record(const std::string& name, const std::vector<std::string>& options) const {
    std::string file = scratch_.file(name);
    std::vector<std::string> command{pmusim(), "record", "-q", "-o", file};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(recorded("branches", {"400"}));
    const Output output = run(command);
    EXPECT_EQ(output.status, 0) << output.err;
    return file;
  }

  std::string file(const std::string& name) const { return scratch_.file(name); }

 private:
  ScratchDirectory scratch_;
};

TEST_F(DiffTest, HasTheDeltasOfPerf) {
  const std::string before = record("before", {"-e", "cycles:upp", "-c", "211"});
  const std::string after = record("after", {"-e", "cycles:upp", "-c", "211", "--model", "goldmont"});
  const Output output = run({pmusim(), "diff", "--json", before, after});
  ASSERT_EQ(output.status, 0) << output.err;
  const nlohmann::json report = parse_json(output.out);
  std::map<std::string, double> deltas;
  double sum = 0;
  for (const auto& symbol : report["events"][0]["symbols"]) {
    deltas[symbol["symbol"]] += symbol["delta"].get<double>();
    sum += symbol["delta"].get<double>();
  }
  EXPECT_NEAR(sum, 0, 1e-6) << "what one function loses others get";
  std::size_t compared = 0;
  for (const std::string& line : lines(run({"perf", "diff", "-q", "-s", "sym", before, after}).out)) {
    std::istringstream words(line);
    std::string baseline, delta, mark, symbol;
    if (!(words >> baseline >> delta >> mark >> symbol) || mark != "[.]" || !deltas.contains(symbol))
      continue;
    EXPECT_NEAR(std::stod(delta), deltas.at(symbol), 0.011) << line;
    ++compared;
  }
  EXPECT_GE(compared, 2u);
  const Output text = run({pmusim(), "diff", before, after});
  EXPECT_THAT(text.out, StartsWith("# cycles:upp: "));
  EXPECT_THAT(text.out, HasSubstr("# Baseline     Delta  Module               Symbol\n"));
  EXPECT_THAT(run({pmusim(), "diff", before, before}).out, testing::EndsWith("Symbol\n"));
}

TEST_F(DiffTest, ProfilesWithoutACommonEventAreRefused) {
  const Output output = run({pmusim(), "diff", record("before", {"-e", "cycles:upp", "-c", "211"}),
                             record("after", {"-e", "branches:u", "-c", "211"})});
  EXPECT_EQ(output.status, 2);
  EXPECT_THAT(output.err, HasSubstr("no event is on both sides: cycles:upp: is in "));
  EXPECT_THAT(output.err, HasSubstr("; branches:u: is in "));
  EXPECT_EQ(run({pmusim(), "diff", "one.data"}).status, 2);
}

using nlohmann::json;

/// One trace: before on the core as it is.
TEST_F(DiffTest, ACoreIsComparedWithWhatItMightBe) {
  const std::string trace = recorded("branches", {"400"});
  const json difference = parse_json(run({pmusim(), "diff", "-q", "--json", "--model", "skylake",
                                          "--core-set", "width=1", "--core-set", "rob=32", trace})
                                         .out);
  const auto counted = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {pmusim(), "why", "-q", "--json", "--model", "skylake", trace});
    return parse_json(run(options).out);
  };
  const json usual = counted({}), narrow = counted({"--core-set", "width=1,rob=32"});
  EXPECT_GT(narrow["total"]["cycles"], usual["total"]["cycles"]);
  for (const json& event : difference["events"]) {
    EXPECT_EQ(event["before"]["count"], usual["total"][event["event"].get<std::string>()]);
    EXPECT_EQ(event["after"]["count"], narrow["total"][event["event"].get<std::string>()]);
  }
  EXPECT_THAT(difference["after"].get<std::string>(), HasSubstr(" with width=1,rob=32"));
  const Output profile = run({pmusim(), "diff", "--core-set", "rob=32", trace, "/etc/passwd"});
  EXPECT_EQ(profile.status, 2);
}

TEST_F(DiffTest, TracesAreComparedAsWhyCountsThem) {
  const std::string trace = recorded("branches", {"400"});
  const Output output = run({pmusim(), "diff", "-q", "--json", "--models", "skylake,goldencove", trace});
  ASSERT_EQ(output.status, 0) << output.err;
  const json difference = parse_json(output.out);
  const auto counted = [&](const char* model) {
    return parse_json(run({pmusim(), "why", "-q", "--json", "--model", model, trace}).out);
  };
  const json skylake = counted("skylake"), goldencove = counted("goldencove");
  const auto function = [](const json& why, const std::string& name, const std::string& event) {
    u64 sum = 0;
    for (const json& f : why["functions"])
      if (f["name"] == name) sum += f["counts"][event].get<u64>();
    return sum;
  };
  EXPECT_GT(difference["events"].size(), 10u);
  for (const json& event : difference["events"]) {
    const std::string name = event["event"];
    EXPECT_EQ(event["before"]["count"], skylake["total"][name]) << name;
    EXPECT_EQ(event["after"]["count"], goldencove["total"][name]) << name;
    u64 before = 0, after = 0, lines_after = 0;
    for (const json& symbol : event["symbols"]) {
      before += symbol["before"]["count"].get<u64>();
      after += symbol["after"]["count"].get<u64>();
      if (symbol["symbol"] == "branches" || symbol["symbol"] == "lfsr") {
        EXPECT_EQ(symbol["after"]["count"], function(goldencove, symbol["symbol"], name)) << name;
      }
    }
    EXPECT_EQ(event["before"]["count"], before) << name;
    EXPECT_EQ(event["after"]["count"], after) << name;
    for (const json& line : event["lines"]) lines_after += line["after"]["count"].get<u64>();
    EXPECT_LE(lines_after, after) << "code without lines is in functions only";
  }
  const Output two = run({pmusim(), "diff", "-q", "--model", "skylake", "-s", "line", trace, trace});
  EXPECT_THAT(two.out, HasSubstr(" more that changed by less than 0.01 % of all\n"));
}

TEST_F(DiffTest, CountsOfStatAreComparedWithWhatTheirRunsSay) {
  const auto counts = [&](const std::string& name, std::vector<std::string> options) {
    std::vector<std::string> command{pmusim(), "stat", "--json", "-e", "cycles,instructions"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(recorded("branches", {"400"}));
    std::ofstream(file(name)) << run(command).out;
    return file(name);
  };
  const std::string once = counts("once", {}), thrice = counts("thrice", {"-r", "3", "--model", "skylake"});
  const json difference = parse_json(run({pmusim(), "diff", "--json", once, thrice}).out);
  EXPECT_EQ(difference["counting"], "exact");
  EXPECT_EQ(difference["events"][0]["before"]["count"], parse_json(read_file(once))["events"][0]["value"]);
  EXPECT_EQ(difference["events"][0]["after"]["count"], parse_json(read_file(thrice))["events"][0]["value"]);
  EXPECT_EQ(difference["events"][0]["after"]["runs"].size(), 3u);
  EXPECT_TRUE(difference["events"][0]["p"].is_null()) << "one run says nothing of its spread";
  EXPECT_EQ(parse_json(run({pmusim(), "diff", "--json", thrice, thrice}).out)["events"][0]["p"], 1);
  std::ofstream(file("other")) << R"({"trace": "T", "model": "icelake", "events": [{"event": "cycles:u"}]})";
  const Output refused = run({pmusim(), "diff", once, file("other")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("has no value; expected a count"));
}

TEST_F(DiffTest, WhatCannotBeComparedIsRefused) {
  const std::string trace = recorded("branches", {"400"}),
                    profile = record("p", {"-e", "cycles:upp", "-c", "211"});
  const auto error = [&](std::vector<std::string> arguments) {
    std::vector<std::string> command{pmusim(), "diff"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Output output = run(command);
    EXPECT_EQ(output.status, 2);
    return output.err;
  };
  EXPECT_THAT(error({trace, profile}), HasSubstr("is a trace, and " + profile + " a profile"));
  EXPECT_THAT(error({trace}), HasSubstr("there is nothing to compare it with"));
  EXPECT_THAT(error({"--models", "skylake", trace}), HasSubstr("expected two"));
  EXPECT_THAT(error({"--models", "skylake,goldencove", profile}), HasSubstr("are for traces"));
  EXPECT_THAT(error({"--models", "skylake,goldencov", trace}), HasSubstr("goldencov"));
  EXPECT_THAT(error({"-e", "cycels", profile, profile}), HasSubstr("both sides have cycles:upp"));
}

/// Periods by stack, of a collapsed export, and their sum.
std::map<std::string, double> shares_by_innermost(const std::string& profile) {
  std::map<std::string, double> shares;
  double total = 0;
  for (const std::string& line :
       lines(run({pmusim(), "report", "--export", "collapsed", "-i", profile}).out)) {
    const std::size_t space = line.rfind(' ');
    const std::string stack = line.substr(0, space);
    const double period = std::stod(line.substr(space));
    shares[stack.substr(stack.rfind(';') + 1)] += period;
    total += period;
  }
  for (auto& [name, share] : shares) share *= 100 / total;
  return shares;
}

// The frames next to the root are the functions that were sampled, and colours say what perf diff would.
TEST_F(DiffTest, FlameGraphOfThePageIsColouredByWhatChanged) {
  if (!installed("chromium")) GTEST_SKIP() << "needs chromium to show the page";
  const std::string before = record("before", {"-g", "-e", "cycles:upp", "-c", "211"});
  const std::string after = record("after", {"-g", "-e", "cycles:upp", "-c", "211", "--model", "goldmont"});
  const std::string page = file("diff.html");
  ASSERT_EQ(run({pmusim(), "diff", "--html", page, before, after}).status, 0);
  std::ofstream(page, std::ios::app) << R"(<script>
    const log = document.body.appendChild(Object.assign(document.createElement('pre'), { id: 'log' }));
    const cell = (tr, n) => tr.cells[n].textContent;
    for (const tr of document.querySelectorAll('tbody tr')) log.textContent += `row ${cell(tr, 4)} ${cell(tr, 2)}\n`;
    document.querySelector('[data-view=flame]').click();
    document.getElementById('flame-turn').click();
    for (const b of document.querySelectorAll('.flame .row:nth-child(2) button'))
      log.textContent += `frame ${b.title} hue ${b.style.getPropertyValue('--hue')}\n`;
    </script>)";
  const Output shown = run({"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                            "--disable-background-networking", "--user-data-dir=" + file("browser"),
                            "--virtual-time-budget=5000", "--dump-dom", "file://" + page});
  const auto was = shares_by_innermost(before), is = shares_by_innermost(after);
  std::size_t frames = 0;
  for (const std::string& line : lines(shown.out.substr(shown.out.find("<pre id=\"log\">")))) {
    const std::size_t begin = line.find("frame "), colon = line.find(": ");
    if (begin == line.npos || colon == line.npos) continue;
    const std::string name = line.substr(begin + 6, colon - begin - 6);
    if (name != "branches" && name != "lfsr" && name != "main") continue;  // others have namesakes
    const double change = is.at(name) - was.at(name);
    EXPECT_THAT(line, HasSubstr(": " + fmt::format("{:.2f}%", is.at(name))));
    EXPECT_THAT(line, HasSubstr(change < 0 ? "hue 215" : "hue 8"));
    EXPECT_THAT(line, HasSubstr(fmt::format("{:.2f}% points", std::abs(change))));
    EXPECT_THAT(shown.out,
                HasSubstr(fmt::format("row {} {}{:.2f}%", name, change < 0 ? "−" : "+", std::abs(change))));
    ++frames;
  }
  EXPECT_EQ(frames, 3u);
}

}  // namespace
}  // namespace pmusim::test::diff_test

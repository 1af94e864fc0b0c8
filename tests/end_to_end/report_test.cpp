// SPDX-License-Identifier: MIT
// pmusim report beside perf report, and its exports read by others' tools.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include "pmusim/base/types.h"
#include "tests/end_to_end/command.h"
#include "tests/support/json.h"

namespace pmusim::test::report_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Percentages of functions, added up where there are several of a name.
using Shares = std::map<std::string, double>;

class ReportTest : public testing::Test {
 protected:
  /// A program with call stacks of every kind.
  static const std::string& file() {
    static const ScratchDirectory scratch;
    static const std::string recorded = [] {
      const std::string trace = scratch.file("kept.pmutrace");
      EXPECT_EQ(run({pmusim(), "trace", "record", "-o", trace, "--", TEST_KEPT_STACKS}).status, 0);
      std::string name = scratch.file("perf.data");
      EXPECT_EQ(
          run({pmusim(), "record", "-q", "-g", "-e", "cycles:upp", "-c", "1009", "-o", name, trace}).status,
          0);
      return name;
    }();
    return recorded;
  }
  static Output report(std::vector<std::string> options) {
    options.insert(options.begin(), {pmusim(), "report", "-i", file()});
    return run(options);
  }
  static std::string text(const std::vector<std::string>& options) {
    const Output output = report(options);
    EXPECT_EQ(output.status, 0) << output.err;
    return output.out;
  }
  std::string exported(const std::string& format) const {
    const std::string name = scratch_.file(format);
    EXPECT_EQ(text({"--export", format, "-o", name}), "");
    return name;
  }

 private:
  ScratchDirectory scratch_;
};

/// Without parameters, which perf does not show. Lines "12.34%;name", of perf with blanks behind the
/// percentage and "[.] " before the name.
Shares shares(const std::string& table) {
  Shares all;
  for (const std::string& line : lines(table)) {
    const std::size_t separator = line.find(';');
    if (line.empty() || line[0] == '#' || separator == std::string::npos) continue;
    std::string name = line.substr(separator + 1);
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    if (name.starts_with("[.] ")) name.erase(0, 4);
    name.erase(std::min(name.find('('), name.find_last_not_of(' ') + 1));
    all[name] += std::stod(line);
  }
  return all;
}

void expect_same(const Shares& ours, const Shares& perfs) {
  ASSERT_GT(perfs.size(), 20u);
  for (const auto& [name, share] : perfs) {
    const bool demangled = name.find("::") != std::string::npos;  // in ways of their own
    if (share < 0.01 || name.starts_with("0x") || demangled) continue;
    ASSERT_TRUE(ours.contains(name)) << name << " " << share;
    EXPECT_NEAR(ours.at(name), share, 0.015) << name;
  }
}

TEST_F(ReportTest, HasThePercentagesOfPerf) {
  expect_same(shares(text({"-F", "overhead,symbol", "-x", ";"})),
              shares(perf_output({"report", "--stdio", "--no-children", "-g", "none", "-F", "overhead,sym",
                                  "-t", ";", "--percent-limit", "0"},
                                 file())));
}

// perf looks for the caller at the return address itself, which behind a last call that never returns
// (_Unwind_Resume, in st_throws) is another function's: these are functions that end otherwise.
TEST_F(ReportTest, HasTheChildrenOfPerf) {
  const Shares ours = shares(text({"-F", "children,symbol", "-x", ";", "--children"}));
  const Shares perfs = shares(perf_output({"report", "--stdio", "--children", "-g", "none", "-F",
                                           "overhead_children,sym", "-t", ";", "--percent-limit", "0"},
                                          file()));
  for (const char* const name : {"main", "st_all", "st_catches", "st_thread", "st_even", "st_switches"}) {
    ASSERT_TRUE(ours.contains(name) && perfs.contains(name)) << name;
    EXPECT_GT(ours.at(name), 0.5);
    EXPECT_NEAR(ours.at(name), perfs.at(name), 0.015) << name;
  }
}

TEST_F(ReportTest, LimitsAndFiltersLeaveOutRows) {
  const std::string all = text({"-x", ","}), limited = text({"-x", ",", "--percent-limit", "5"});
  EXPECT_LT(lines(limited).size(), lines(all).size());
  for (const auto& [name, share] : shares(text({"-F", "overhead,sym", "-x", ";", "--percent-limit", "5"})))
    EXPECT_GE(share, 5) << name;
  EXPECT_THAT(text({"-F", "dso", "-x", ",", "--dsos", "kept_stacks"}), Not(HasSubstr("perf-")))
      << "what it has generated is in no file";
  EXPECT_EQ(lines(text({"-x", ",", "--dsos", "libc.so.6"})).size(), 3u) << "a head and no row";
  EXPECT_THAT(text({"--symbol-filter", "st_check"}),
              AllOf(HasSubstr(" st_checkpoint\n"), Not(HasSubstr("_start\n"))));
  EXPECT_EQ(text({"-n", "--group", "--stdio"}), text({}));
}

/// Of a file with two programs on two CPUs.
TEST_F(ReportTest, TasksAndCpusHaveThePercentagesOfPerf) {
  const ScratchDirectory scratch;
  const std::string trace = scratch.file("t"), data = scratch.file("perf.data");
  ASSERT_EQ(run({pmusim(), "trace", "record", "-q", "-o", trace, "--", "sh", "-c", "ls / >&2; true"}).status,
            0);
  ASSERT_EQ(
      run({pmusim(), "record", "-q", "--machine", "icelake:2c2t", "-c", "1009", "-o", data, trace}).status,
      0);
  for (const std::string key : {"comm", "pid", "cpu", "socket"}) {
    const auto ours =
        shares(run({pmusim(), "report", "-i", data, "-s", key, "-F", "overhead", "-x", ";"}).out);
    auto theirs =
        shares(perf_output({"report", "--stdio", "-s", key, "-F", "overhead," + key, "-t", ";"}, data));
    ASSERT_FALSE(ours.empty());
    if (key == "cpu" || key == "socket") {  // perf: 000
      Shares numbers;
      for (const auto& [name, share] : theirs) numbers[std::to_string(std::stoi(name))] = share;
      theirs = numbers;
    }
    EXPECT_EQ(ours.size(), theirs.size()) << key;
    for (const auto& [name, share] : theirs) {
      const auto found = ours.find(name);
      ASSERT_NE(found, ours.end()) << name;
      EXPECT_NEAR(found->second, share, 0.011) << name;
    }
  }
}

TEST_F(ReportTest, CallGraphsShowBothDirections) {
  const std::string callers = text({"-g", "callee", "--symbol-filter", "st_odd", "--children"});
  EXPECT_THAT(callers, HasSubstr("--st_even\n"));
  const std::string callees = text({"-g", "--symbol-filter", "st_all", "--children"});
  EXPECT_THAT(callees, AllOf(HasSubstr("--st_even\n"), HasSubstr("--st_catches\n")));
  EXPECT_THAT(text({"-g", "flat", "--symbol-filter", "st_checkpoint"}),
              HasSubstr(";st_switches;st_checkpoint\n"));
}

TEST_F(ReportTest, RefusesWhatItHasNotWithASentence) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--comms", "kept"}, "commands: kept_stacks; did you mean kept_stacks?"},
      {{"--tid", "1"}, "no sample is of the processes, threads and CPUs asked for"},
      {{"-C", "1-0"}, "'1-0' is no list of CPUs"},
      {{"-s", "com"},
       "expected symbol, module, line, branch, comm, pid, tid, cpu or socket; did you mean comm?"},
      {{"-s", "comm", "-d", "libc.so.6"}, "count all code"},
      {{"-F", "overhed"}, "did you mean overhead"},
      {{"-g", "fractals"}, "expected caller, callee, flat, graph, fractal or none; did you mean fractal"},
      {{"--children", "--no-children"}, "children"},
      {{"--percent-limit", "101"}, "percent-limit"},
      {{"--export", "colapsed"}, "did you mean collapsed"},
      {{"--export", "pprof", "--event", "1"}, "holds all events"},
      {{"--export", "collapsed", "--event", "2"}, "--event 2: the profile has cycles:upp"},
      {{"--export", "collapsed", "--json"}, "--export goes with neither"},
      {{"--export", "collapsed", "-o", file()}, "input"},
      {{"-o", "x"}, "--export"}};
  for (const auto& [options, sentence] : cases) {
    const Output output = report(options);
    EXPECT_EQ(output.status, 2) << options.front();
    EXPECT_THAT(output.err, HasSubstr(sentence));
    EXPECT_EQ(output.out, "");
  }
}

TEST_F(ReportTest, ExportsAddUpToTheEventCount) {
  const nlohmann::json json = parse_json(text({"--json"}));
  const u64 whole = json["events"][0]["period"];
  u64 collapsed = 0, speedscope = 0, chrome = 0;
  for (const std::string& line : lines(text({"--export", "collapsed"})))
    if (!line.empty()) collapsed += std::stoull(line.substr(line.rfind(' ') + 1));
  EXPECT_EQ(collapsed, whole);
  const auto profiles = parse_json(read_file(exported("speedscope")))["profiles"];
  for (const auto& weight : profiles[0]["weights"]) speedscope += weight.get<u64>();
  EXPECT_EQ(speedscope, whole);
  const auto trace = parse_json(read_file(exported("chrome")));
  for (const auto& sample : trace["samples"]) chrome += sample["weight"].get<u64>();
  EXPECT_EQ(chrome, whole);
}

std::string without_commas(std::string number) {
  std::erase(number, ',');
  return number;
}

TEST_F(ReportTest, CallgrindAnnotateReadsTheSameCosts) {
  if (!installed("callgrind_annotate")) GTEST_SKIP() << "callgrind_annotate is not installed";
  const std::string name = exported("callgrind");
  const nlohmann::json json = parse_json(text({"--json"}));
  std::map<std::string, u64> children;
  for (const auto& symbol : json["symbols"])
    children[symbol["name"]] = std::max<u64>(children[symbol["name"]], symbol["with_callees"][0]["period"]);
  const Output output = run({"callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", name});
  EXPECT_EQ(output.status, 0) << output.err;
  std::map<std::string, u64> listed;
  for (const std::string& line : lines(output.out)) {
    std::istringstream words(line);
    std::string cost;
    if (!(words >> cost)) continue;
    if (line.find("PROGRAM TOTALS") != std::string::npos) {
      EXPECT_EQ(without_commas(cost), std::to_string(json["events"][0]["period"].get<u64>()));
    }
    // Of functions that call each other it shows their own cost beside what they pass on, which has it. One
    // that has lines of several files (inlined code) it lists once for each.
    for (const char* const function : {"st_all", "st_throws", "main"})
      if (line.find(":" + std::string(function) + " [") != std::string::npos)
        listed[function] += std::stoull(without_commas(cost));
  }
  for (const char* const function : {"st_all", "st_throws", "main"})
    EXPECT_EQ(listed[function], children[function]) << function << "\n" << output.out;
}

/// pprof as Debian's package has it, in source.
std::string built_pprof(const ScratchDirectory& scratch) {
  std::string program = scratch.file("pprof");
  const Output built =
      run({"env", "GO111MODULE=off", "GOPATH=/usr/share/gocode", "GOCACHE=" + scratch.file("cache"), "go",
           "build", "-o", program, "github.com/google/pprof"});
  EXPECT_EQ(built.status, 0) << built.err;
  return program;
}

TEST_F(ReportTest, PprofReadsTheSameCosts) {
  if (!installed("go") || !std::filesystem::exists("/usr/share/gocode/src/github.com/google/pprof"))
    GTEST_SKIP() << "golang-go and golang-github-google-pprof-dev are not installed";
  const ScratchDirectory scratch;
  const Output output = run({"env", "HOME=" + scratch.file(""), built_pprof(scratch), "-top",
                             "-symbolize=none", "-nodecount=0", "-nodefraction=0", exported("pprof")});
  ASSERT_EQ(output.status, 0) << output.err;
  const nlohmann::json json = parse_json(text({"--json"}));
  EXPECT_THAT(output.out,
              HasSubstr(" of " + std::to_string(json["events"][0]["period"].get<u64>()) + " total"));
  // Its own sums of functions that call each other have each sample once, as ours.
  std::map<std::string, std::pair<u64, u64>> found;
  for (const std::string& line : lines(output.out)) {
    std::istringstream words(line);
    std::string flat, percent, sum, cumulative, name;
    if (words >> flat >> percent >> sum >> cumulative >> percent >> name && name.starts_with("st_"))
      found[name] = {std::stoull(flat), std::stoull(cumulative)};
  }
  std::map<std::string, std::pair<u64, u64>> expected;
  for (const auto& symbol : json["symbols"])
    if (const std::string name = symbol["name"];
        name.starts_with("st_") && name.find('(') == std::string::npos)
      expected[name] = {symbol["weights"][0]["period"], symbol["with_callees"][0]["period"]};
  EXPECT_GT(expected.size(), 10u);
  for (const auto& [name, costs] : expected) {
    EXPECT_EQ(found[name], costs) << name;
  }
}

std::string without_parameters(const std::string& name) { return name.substr(0, name.find('(')); }

/// The page of speedscope with a profile in it, after its "sandwich" view has been drawn.
std::string speedscope_page(const std::string& profile, const ScratchDirectory& scratch) {
  const std::string script = scratch.file("profile.js");
  run({"sh", "-c",
       fmt::format(
           "(printf 'speedscope.loadFileFromBase64(\"profile\",\"'; base64 -w0 {}; printf '\")') > {}",
           profile, script)});
  const std::string program =
      lines(run({"sh", "-c", "readlink -f \"$(command -v speedscope)\""}).out).front();
  const auto release = std::filesystem::path(program).parent_path().parent_path() / "dist/release/index.html";
  return run({"chromium", "--headless", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
              "--enable-unsafe-swiftshader", "--user-data-dir=" + scratch.file("browser"),
              "--virtual-time-budget=10000", "--window-size=1400,2000", "--dump-dom",
              fmt::format("file://{}#localProfilePath={}&view=sandwich", release.string(), script)})
      .out;
}

// npm install -g speedscope
TEST_F(ReportTest, SpeedscopeReadsTheSameCosts) {
  if (!installed("speedscope") || !installed("chromium"))
    GTEST_SKIP() << "speedscope or chromium is not installed";
  const ScratchDirectory scratch;
  const std::string page = speedscope_page(exported("speedscope"), scratch);
  std::map<std::string, std::pair<u64, u64>> expected;
  const nlohmann::json json = parse_json(text({"--json"}));
  for (const auto& symbol : json["symbols"])
    expected[without_parameters(symbol["name"])] = {symbol["with_callees"][0]["period"],
                                                    symbol["weights"][0]["period"]};
  const std::regex row(
      "<td[^>]*>([0-9,]+) [^<]*<div[^>]*><div[^>]*></div></div></td><td[^>]*>([0-9,]+) "
      "[^<]*<div[^>]*><div[^>]*></div></div></td>"
      "<td[^>]*><span[^>]*></span>(st_\\w+)</td>");
  std::size_t rows = 0;
  for (auto at = std::sregex_iterator(page.begin(), page.end(), row); at != std::sregex_iterator();
       ++at, ++rows)
    EXPECT_EQ(
        (std::pair<u64, u64>(std::stoull(without_commas((*at)[1])), std::stoull(without_commas((*at)[2])))),
        expected[(*at)[3]])
        << (*at)[3];
  EXPECT_GT(rows, 3u);
}

// npm install -g @firefox-devtools/profiler-cli: the importer of profiler.firefox.com.
TEST_F(ReportTest, FirefoxProfilersImporterReadsTheSameCosts) {
  if (!installed("profiler-cli")) GTEST_SKIP() << "profiler-cli is not installed";
  const ScratchDirectory home;
  const Output output =
      run({"env", "HOME=" + home.file(""), "sh", "-c",
           "profiler-cli load " + exported("firefox") +
               " >&2 && profiler-cli thread functions --json; profiler-cli stop --all >&2"});
  const nlohmann::json read = parse_json(output.out);
  ASSERT_TRUE(read.is_object()) << output.err;
  const nlohmann::json json = parse_json(text({"--json"}));
  std::multiset<std::tuple<std::string, u64, u64>> expected, found;
  for (const auto& symbol : json["symbols"])
    if (symbol["with_callees"][0]["samples"] != 0)
      expected.insert({symbol["name"].get<std::string>(), symbol["weights"][0]["period"].get<u64>(),
                       symbol["with_callees"][0]["period"].get<u64>()});
  for (const auto& function : read["functions"])
    found.insert({function["name"].get<std::string>(), function["selfSamples"].get<u64>(),
                  function["totalSamples"].get<u64>()});
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace pmusim::test::report_test

// SPDX-License-Identifier: MIT
// The command on a machine of many CPUs, and perf on what it records there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "command.h"
#include "tests/support/json.h"

namespace pmusim::test::many_cpus_test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// A program of several threads.
std::string threads() { return recorded("simd", {"4"}); }

Output stat(std::vector<std::string> options, const std::string& trace = threads()) {
  std::vector<std::string> command{pmusim(), "stat"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(trace);
  return run(command);
}

/// The events of `pmusim stat --json` by name, and of each CPU.
struct Counts {
  std::map<std::string, unsigned long> all;
  std::map<unsigned, std::map<std::string, unsigned long>> by_cpu;
};

std::map<std::string, unsigned long> counts_of(const nlohmann::json& events) {
  std::map<std::string, unsigned long> counts;
  for (const auto& event : events) counts[event["event"]] = event["counted"];
  return counts;
}

Counts count(std::vector<std::string> options) {
  options.push_back("--json");
  const Output output = stat(std::move(options));
  EXPECT_EQ(output.status, 0) << output.err;
  const auto document = parse_json(output.out);
  Counts counts{.all = counts_of(document["events"]), .by_cpu = {}};
  if (document.contains("cpus"))
    for (const auto& cpu : document["cpus"]) counts.by_cpu[cpu["cpu"]] = counts_of(cpu["events"]);
  return counts;
}

TEST(StatOnManyCpus, CpusAddUpToTheSystemAndToTheProgram) {
  const Counts system = count({"--machine", "icelake:2c4t", "-a"});
  const Counts program = count({"--machine", "icelake:2c4t"});
  EXPECT_EQ(system.all, program.all);
  ASSERT_EQ(system.by_cpu.size(), 4u);
  for (const auto& [event, total] : system.all) {
    unsigned long sum = 0;
    for (const auto& [cpu, counts] : system.by_cpu) sum += counts.at(event);
    EXPECT_EQ(sum, total) << event;
  }
  EXPECT_TRUE(program.by_cpu.empty());
}

TEST(StatOnManyCpus, OneCpuOfAMachineCountsWhatOneCpuDoes) {
  EXPECT_EQ(count({"--machine", "icelake:1c", "-a"}).all, count({"--model", "icelake"}).all);
}

TEST(StatOnManyCpus, SeveralTracesAreProgramsAtOnce) {
  const std::string other = recorded("simd", {"2"});
  const auto side_by_side = [&](const char* machine, const char* jobs) {
    return stat({"--machine", machine, "-a", "-A", "--jobs", jobs, other}, threads());
  };
  const auto apart = side_by_side("skylake:2s2c", "1");
  ASSERT_EQ(apart.status, 0) << apart.err;
  EXPECT_THAT(apart.err, AllOf(HasSubstr("CPU0"), HasSubstr("CPU1")));
  EXPECT_EQ(side_by_side("skylake:2s2c", "2").err, apart.err);
  EXPECT_EQ(side_by_side("skylake:2c", "2").err, side_by_side("skylake:2c", "1").err);
  const auto instructions = [](std::vector<std::string> options) {
    return count(std::move(options)).all.at("instructions");
  };
  const auto alone = instructions({"--machine", "skylake:1c"});
  EXPECT_GT(instructions({"--machine", "skylake:2c", other}), alone);
  EXPECT_EQ(instructions({"--machine", "skylake:2c", threads()}), 2 * alone);
}

// The lines that perf 6.1 prints, of which these are the forms.
TEST(StatOnManyCpus, RowsLookAsPerfsDo) {
  const auto printed = [](const char* option, std::vector<std::string> more = {}) {
    std::vector<std::string> options{"--machine", "icelake:2c4t", "-a", option, "-e", "instructions"};
    options.insert(options.end(), more.begin(), more.end());
    const Output output = stat(options);
    EXPECT_EQ(output.status, 0) << output.err;
    return output.err;
  };
  EXPECT_THAT(printed("-A"), ContainsRegex("\nCPU0    [ 0-9,]{21}      instructions"));
  EXPECT_THAT(printed("--per-core"), ContainsRegex("\nS0-D0-C0           2 [ 0-9,]{18}      instructions"));
  EXPECT_THAT(printed("--per-die"), ContainsRegex("\nS0-D0           4 [ 0-9,]{18}      instructions"));
  EXPECT_THAT(printed("--per-socket"), ContainsRegex("\nS0        4 [ 0-9,]{18}      instructions"));
  EXPECT_THAT(printed("-A", {"-x,"}), ContainsRegex("CPU0,[0-9]+,,instructions,"));
  EXPECT_THAT(printed("--per-core", {"-x,"}), ContainsRegex("S0-D0-C0,2,[0-9]+,,instructions,"));
  EXPECT_THAT(printed("-A", {"-j"}), HasSubstr(R"({"cpu":"0","counter-value":)"));
  EXPECT_THAT(printed("--per-socket", {"-j"}),
              HasSubstr(R"({"socket":"S0","aggregate-number":4,"counter-value":)"));
}

/// Cells of the lines of -x,.
std::vector<std::vector<std::string>> cells(const std::string& csv) {
  std::vector<std::vector<std::string>> all;
  for (const std::string& line : lines(csv)) {
    std::istringstream in(line);
    all.emplace_back();
    for (std::string cell; std::getline(in, cell, ',');) all.back().push_back(cell);
  }
  return all;
}

TEST(StatOnManyCpus, IntervalsOfEachCpuAddUpToItsCount) {
  const std::vector<std::string> options{"--machine",  "icelake:2c", "-a", "-A",          "-x,",
                                         "--schedule", "rotate",     "-e", "instructions"};
  const std::string longer_than_a_tick = recorded("branches", {"100000"});
  std::map<std::string, unsigned long> sums, totals;
  for (const auto& row : cells(stat(options, longer_than_a_tick).err))
    totals[row.at(0)] = std::stoul(row.at(1));
  std::vector<std::string> by_interval = options;
  by_interval.insert(by_interval.end(), {"-I", "1"});
  const Output output = stat(by_interval, longer_than_a_tick);
  EXPECT_EQ(output.status, 0) << output.err;
  const auto rows = cells(output.err);
  EXPECT_GT(rows.size(), 4u);
  for (const auto& row : rows) sums[row.at(1)] += std::stoul(row.at(2));
  EXPECT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums, totals);
}

TEST(StatOnManyCpus, IntervalsHaveAHeadingForTheirPlaces) {
  const Output output =
      stat({"--machine", "icelake:2c", "-a", "--per-core", "-I", "1", "-e", "instructions"});
  EXPECT_THAT(output.err,
              HasSubstr("#           time core            cpus             counts unit events\n"));
  EXPECT_THAT(output.err,
              ContainsRegex("\n     0.000[0-9]+ S0-D0-C0           1 [ 0-9,]{18}      instructions"));
}

TEST(StatOnManyCpus, RepeatedRunsHaveTheMeanOfEachCpu) {
  const std::vector<std::string> once{"--machine", "icelake:2c", "-a", "-A", "-x,", "-e", "instructions"};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), {"-r", "2"});
  const auto one = cells(stat(once).err), mean = cells(stat(twice).err);
  ASSERT_EQ(mean.size(), 2u);
  for (std::size_t cpu = 0; cpu < 2; ++cpu) {
    EXPECT_EQ(mean[cpu][0], one[cpu][0]);
    EXPECT_EQ(mean[cpu][1], one[cpu][1]);
    EXPECT_EQ(mean[cpu][4], "0.00%");  // replays of a trace are all the same
  }
}

// Scenario 20: what is shown is the sum of what each kind of core is scaled up to.
TEST(StatOnManyCpus, KindsOfCoreAreMergedWhereTheyAreAskedTo) {
  const auto events = [](std::vector<std::string> more) {
    std::vector<std::string> options{"--machine",
                                     "alderlake:1p1e",
                                     "--schedule",
                                     "rotate",
                                     "--json",
                                     "-e",
                                     "cycles:u,cpu/event=0xc0/,task-clock"};
    options.insert(options.end(), more.begin(), more.end());
    return parse_json(stat(options).out)["events"];
  };
  const auto apart = events({}), merged = events({"--hybrid-merge"});
  ASSERT_EQ(apart.size(), 5u);
  ASSERT_EQ(merged.size(), 3u);
  EXPECT_EQ(merged[0]["event"], "cycles:u");
  EXPECT_EQ(merged[1]["event"], "cpu/event=0xc0/");
  EXPECT_EQ(merged[2], apart[4]);
  for (const std::size_t event : {0u, 1u}) {
    EXPECT_LT(apart[2 * event]["running_ns"], apart[2 * event]["enabled_ns"]);
    for (const char* sum : {"value", "enabled_ns", "running_ns"})
      EXPECT_EQ(merged[event][sum].get<unsigned long>(),
                apart[2 * event][sum].get<unsigned long>() + apart[2 * event + 1][sum].get<unsigned long>())
          << sum;
  }
}

TEST(StatOnManyCpus, EachKindOfCoreHasItsCount) {
  const Counts counts =
      count({"--machine", "alderlake:1p1e", "--schedule", "rotate", "-e", "instructions:u"});
  ASSERT_EQ(counts.all.size(), 2u);
  EXPECT_EQ(counts.all.at("cpu_core/instructions/u") + counts.all.at("cpu_atom/instructions/u"),
            count({"-e", "instructions:u"}).all.at("instructions:u"));
  const Output text = stat({"--machine", "alderlake:1p1e", "-a", "-A", "-e", "cycles,cpu-clock"});
  EXPECT_THAT(text.err, HasSubstr("cpu_atom/cycles/"));
  EXPECT_THAT(text.err, Not(ContainsRegex("CPU0 .*cpu_atom")));
}

TEST(StatOnManyCpus, RefusalsSayWhatIsWrong) {
  const auto refused = [](std::vector<std::string> options) {
    const Output output = stat(std::move(options));
    EXPECT_EQ(output.status, 2);
    return output.err;
  };
  EXPECT_THAT(refused({"--machine", "icelake:2c", "-C", "2"}), HasSubstr("the last of icelake:2c is CPU 1"));
  EXPECT_THAT(refused({"--machine", "icelake:2c", "-C", "x"}), HasSubstr("is no list of CPUs"));
  EXPECT_THAT(refused({"--machine", "icelake:2c3t"}), HasSubstr("3 threads on 2 cores"));
  EXPECT_THAT(refused({"--machine", "/nonexistent/machine"}), HasSubstr("/nonexistent/machine"));
  EXPECT_THAT(refused({"--machine", "icelake:2c", "--model", "skylake"}), HasSubstr("without --model"));
  EXPECT_THAT(refused({"--machine", "icelake:2c", "-A"}), HasSubstr("only with -a or -C"));
  EXPECT_THAT(refused({"--machine", "icelake:2c", "-C", "0", "--per-thread"}),
              HasSubstr("wherever they run"));
  EXPECT_THAT(refused({"--machine", "alderlake:1p1e", "-e", "{cpu_core/cycles/,cpu_atom/cycles/}"}),
              HasSubstr("cannot be in one group"));
  EXPECT_THAT(refused({"--per-core"}), HasSubstr("--machine gives several"));
  EXPECT_THAT(refused({"--record", "/tmp/none", "-r", "2"}), HasSubstr("neither -r nor"));
  EXPECT_THAT(refused({"--record", "/tmp/none", "--per-thread"}), HasSubstr("neither -r nor"));
  EXPECT_THAT(refused({"--record", "/nonexistent/none"}), HasSubstr("/nonexistent/none"));
  EXPECT_THAT(refused({"--schedule", "rotate"}), HasSubstr("there is one CPU"));
  EXPECT_THAT(refused({threads()}), HasSubstr("which one, --machine says"));
  EXPECT_THAT(refused({"--machine", "icelake:1c", threads()}),
              HasSubstr("2 programs side by side need one each"));
  EXPECT_THAT(refused({"--machine", "icelake:2c", "-I", "1", threads()}), HasSubstr("go with one program"));
  EXPECT_THAT(refused({"--machine", "icelake:2c", "--from", "5", threads()}),
              HasSubstr("goes with one trace"));
  EXPECT_THAT(refused({"--machine", "icelake:2c", "/nonexistent/trace"}), HasSubstr("/nonexistent/trace"));
  const ScratchDirectory scratch;
  const std::string file = scratch.file("machine");
  std::ofstream(file) << "cpu 0 model skylake\ncpu 1 core 1 model skylake offline\n";
  EXPECT_THAT(refused({"--machine", file, "-C", "1"}), HasSubstr("CPU 1 is offline"));
  EXPECT_EQ(count({"--machine", file, "-a"}).by_cpu.size(), 1u);
}

class PerfReadsManyCpus : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
  }
  std::string record(std::vector<std::string> options) {
    const std::string file = scratch_.file("perf.data");
    std::vector<std::string> command{pmusim(),   "record", "-q",   "-o", file,      "--machine",
                                     GetParam(), "-c",     "1009", "-e", "cycles:u"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(threads());
    const Output output = run(command);
    EXPECT_EQ(output.status, 0) << output.err;
    return file;
  }
  unsigned cpus() const {
    return std::map<std::string, unsigned>{
        {"icelake:1c", 1}, {"icelake:2c", 2}, {"icelake:4c8t", 8}, {"alderlake:2p4t2e", 6}}
        .at(GetParam());
  }

 private:
  ScratchDirectory scratch_;
};

/// "[002]" of perf script.
std::set<std::string> cpus_in(const std::string& script) {
  std::set<std::string> cpus;
  for (const std::string& line : lines(script))
    if (const auto at = line.find('['); at != std::string::npos) cpus.insert(line.substr(at + 1, 3));
  return cpus;
}

TEST_P(PerfReadsManyCpus, OfAProgram) {
  const std::string file = record({"--schedule", "rotate"});
  const std::string script = perf_output({"script", "-F", "comm,tid,cpu,time,event,ip"}, file);
  EXPECT_FALSE(script.empty());
  EXPECT_THAT(perf_output({"report", "--stdio", "--sort", "cpu"}, file), HasSubstr("CPU"));
  EXPECT_THAT(perf_output({"report", "--stdio", "--header-only", "-I"}, file),
              HasSubstr("nrcpus online : " + std::to_string(cpus())));
}

TEST_P(PerfReadsManyCpus, OfAllCpus) {
  const std::string file = record({"-a", "--switch-events"});
  EXPECT_FALSE(perf_output({"script", "--show-switch-events"}, file).empty());
  EXPECT_THAT(perf_output({"report", "--stdio", "--sort", "cpu,socket,comm"}, file), HasSubstr("simd"));
  const std::string header = perf_output({"report", "--stdio", "--header-only", "-I"}, file);
  EXPECT_THAT(header, HasSubstr("sibling"));
  EXPECT_THAT(header, HasSubstr("L1 Data"));
  if (std::string_view(GetParam()).starts_with("alder")) {
    EXPECT_THAT(header, HasSubstr("cpu_core cpu list : 0-3"));
    EXPECT_THAT(header, HasSubstr("cpu_atom cpu list : 4-5"));
    EXPECT_THAT(header, ContainsRegex("L2 Unified +2M \\[4-5\\]"));  // a module
  }
}

TEST_P(PerfReadsManyCpus, OfOneCpuOfThem) {
  const std::string file = record({"-C", "0"});
  EXPECT_EQ(cpus_in(perf_output({"script", "-F", "cpu,ip"}, file)), std::set<std::string>{"000"});
}

/// Counts by name, and what stands before them with --per-core and the like.
std::map<std::string, unsigned long> counts_in_report(std::vector<std::string> options,
                                                      const std::string& file) {
  std::vector<std::string> command{"perf", "stat", "report"};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-i", file});
  const Output output = run(command);
  EXPECT_EQ(output.status, 0) << output.err;
  std::map<std::string, unsigned long> counts;
  for (const std::string& line : lines(output.err)) {
    std::istringstream in(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
    const bool by_place = !words.empty() && words[0].starts_with("S");
    const std::size_t count = by_place ? 2 : 0;
    if (words.size() < count + 2 || words[count].find_first_not_of("0123456789") != std::string::npos)
      continue;
    counts[(by_place ? words[0] + " " : "") + words[count + 1]] = std::stoul(words[count]);
  }
  EXPECT_THAT(output.err, Not(ContainsRegex("WARNING|[Ff]ailed|Invalid|Unknown|incompatible"))) << output.err;
  return counts;
}

class PerfReadsCounts : public PerfReadsManyCpus {};

TEST_P(PerfReadsCounts, OfCpusAndOfAProgram) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  for (const bool all : {true, false}) {
    std::vector<std::string> options{"--machine", GetParam(), "-e", "cycles,instructions", "--record", file};
    if (all) options.push_back("-a");
    const auto document = parse_json([&] {
      options.push_back("--json");
      return stat(options).out;
    }());
    std::map<std::string, unsigned long> values;
    for (const auto& event : document["events"])
      if (event["running_ns"] != 0) values[event["event"]] = event["value"];  // else perf says <not counted>
    EXPECT_EQ(counts_in_report({}, file), values);
  }
}

TEST_P(PerfReadsCounts, ByCore) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  std::map<std::string, unsigned long> printed;
  const Output output =
      stat({"--machine", GetParam(), "-a", "--per-core", "-x,", "-e", "instructions", "--record", file});
  for (const auto& row : cells(output.err)) printed[row.at(0) + " " + row.at(4)] = std::stoul(row.at(2));
  EXPECT_FALSE(printed.empty());
  EXPECT_EQ(counts_in_report({"--per-core"}, file), printed);
  EXPECT_THAT(perf_output({"report", "--stdio", "--header-only", "-I"}, file),
              HasSubstr("contains stat data"));
}

INSTANTIATE_TEST_SUITE_P(Machines, PerfReadsCounts,
                         testing::Values("icelake:1c", "icelake:2c", "sapphirerapids:2s4c8t", "icelake:64c",
                                         "alderlake:2p4t2e", "meteorlake:2p4e", "lunarlake:4p4e"),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           name.at(name.find(':')) = '_';
                           return name;
                         });

TEST(StatOnManyCpus, IntervalsAreInPerfsFile) {
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data"), trace = recorded("branches", {"100000"});
  const Output own = stat({"-I", "1", "-x,", "-e", "instructions", "--record", file}, trace);
  const Output report = run({"perf", "stat", "report", "-i", file});
  const auto rows = cells(own.err);
  EXPECT_GT(rows.size(), 2u);
  for (const auto& row : rows) EXPECT_THAT(report.err, ContainsRegex(row.at(0) + " +" + row.at(1) + " "));
}

// perf c2c takes the nodes of addresses from MEM_TOPOLOGY, and says so where it is missing.
TEST_P(PerfReadsManyCpus, WithTheMemoryOfItsNodes) {
  const std::string file = record({"-a", "-d", "-W"});
  EXPECT_THAT(perf_output({"c2c", "report", "--stdio"}, file), HasSubstr("Trace Event Information"));
}

INSTANTIATE_TEST_SUITE_P(Machines, PerfReadsManyCpus,
                         testing::Values("icelake:1c", "icelake:2c", "icelake:4c8t", "alderlake:2p4t2e"),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           name.at(name.find(':')) = '_';
                           return name;
                         });

}  // namespace
}  // namespace pmusim::test::many_cpus_test

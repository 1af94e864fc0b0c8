// SPDX-License-Identifier: MIT
// More of perf's commands and options. Those that came first are in run_test.cpp.
#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::string stat_of_bare(std::vector<std::string> options) {
  std::vector<std::string> command{"perf", "stat"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(bare_program);
  const Output output = run_live(command);
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(output.err, Not(HasSubstr("<not")));
  return output.err;
}

TEST_F(LiveWithPerf, DetailsOfCachesAreCounted) {
  const std::string counts = stat_of_bare({"-d"});
  EXPECT_THAT(counts, ContainsRegex("[1-9][0-9]* +L1-dcache-loads:u"));
  EXPECT_THAT(counts, ContainsRegex("[0-9]+ +LLC-load-misses:u"));
}

TEST_F(LiveWithPerf, TopdownIsGivenInPerCent) {
  EXPECT_THAT(stat_of_bare({"--topdown"}), ContainsRegex("[0-9.]+% +[0-9.]+% +[0-9.]+% +[0-9.]+%"));
}

TEST_F(LiveWithPerf, IntervalsAddUpToTheWhole) {
  const std::vector<std::string> stat{"perf",           "stat", "-x,",          "-o",   file("counts"), "-e",
                                      "instructions:u", "--",   events_program, "work", "4000"};
  std::vector<std::string> in_intervals = stat;
  in_intervals.insert(in_intervals.begin() + 2, {"-I", "1"});
  ASSERT_EQ(run_live(stat, {}, Addresses::fixed).status, 0);
  const double whole = std::stod(counts_in(read_file(file("counts")))["instructions:u"]);
  // A program that ends while perf prints an interval has no more of them: its rest is in none.
  double sum = 0;
  for (int attempts = 5; sum != whole && attempts != 0; --attempts) {
    ASSERT_EQ(run_live(in_intervals, {}, Addresses::fixed).status, 0);
    sum = 0;
    for (const std::string& line : lines(read_file(file("counts"))))
      if (line.find("instructions:u") != std::string::npos && line.find("<not counted>") == std::string::npos)
        sum += std::stod(line.substr(line.find(',') + 1));
    EXPECT_LE(sum, whole);
  }
  EXPECT_EQ(sum, whole);
}

TEST_F(LiveWithPerf, AFrequencyGivesSamples) {
  const std::string samples = recorded_samples({"-F", "1000000", "-e", "cycles:u"}, {"-F", "ip,period"});
  EXPECT_GT(lines(samples).size(), 0u);
}

TEST_F(LiveWithPerf, BranchFiltersAreObeyed) {
  const std::string stacks =
      recorded_samples({"-j", "any_call,u", "-e", "instructions:u", "-c", "500"}, {"-F", "brstacksym"});
  EXPECT_THAT(stacks, HasSubstr("leaf"));
  EXPECT_THAT(stacks, Not(ContainsRegex("leaf\\+0x[0-9a-f]+/walk"))) << "a return";
}

TEST_F(LiveWithPerf, RegistersOfSamplesAreThoseOfTheProgram) {
  const std::string registers =
      recorded_samples({"--intr-regs=ip,sp", "-e", "instructions:upp", "-c", "500"}, {"-F", "ip,iregs"});
  EXPECT_THAT(registers, ContainsRegex("SP:0x7ff[0-9a-f]+"));
}

TEST_F(LiveWithPerf, TheHeaderOfAProfileNamesTheModel) {
  const std::string data = file("perf.data");
  const Output recorded =
      run_live({"perf", "record", "-o", data, "-e", "instructions:u", "-c", "500", "--", bare_program},
               {"--model", "skylake"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(run_perf({"report", "--stdio", "--header-only"}, data).out,
              HasSubstr("# cpudesc : pmusim Skylake\n"));
}

TEST_F(LiveWithPerf, ThreadsHaveTheirOwnCounts) {
  const std::string data = file("perf.data");
  const Output recorded = run_live({"perf", "record", "-s", "-o", data, "-e", "instructions:u", "-c", "1000",
                                    "--", events_program, "others", "3000"});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(run_perf({"report", "-T", "--stdio"}, data).out, ContainsRegex("# +PID +TID +instructions:u"));
}

TEST_F(LiveWithPerf, ListShowsTheEventsOfThePmu) {
  const std::string list = run_live({"perf", "list", "pmu"}).out;
  EXPECT_THAT(list, HasSubstr("mem-loads OR cpu/mem-loads/"));
  EXPECT_THAT(list, HasSubstr("cpu/topdown-retiring/"));
}

TEST_F(LiveWithPerf, MemRecordSamplesLoadsAndReportsThem) {
  const std::string perf = perf_of_intel(file("perf")), data = file("perf.data");
  const Output recorded =
      run_live({perf, "mem", "record", "--ldlat", "3", "-t", "load", "-o", data, "-c", "50", bare_program});
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const std::string report = run({perf, "mem", "report", "--stdio", "-i", data}).out;
  EXPECT_THAT(report, ContainsRegex("L1 or L1 hit"));
  EXPECT_THAT(report, HasSubstr("bare"));
}

// For as long as it takes, which is the watchdog's to bound: perf top shows nothing before its first samples.
TEST_F(LiveWithPerf, TopShowsWhereARunningProgramIs) {
  const Output output = run_live({"sh", "-c",
                                  events_program +
                                      R"( work 4000000000 & worker=$!
(tail -f /dev/null & echo $! >"$0.input") | stdbuf -o0 perf top --stdio -d 1 -e cycles:u -c 200 -p $worker >"$0" & top=$!
for n in $(seq 400); do grep -q 'events  *\[\.\]' "$0" && break; sleep 0.1; done
kill -INT $top; kill $worker $(cat "$0.input"))",
                                  file("top")});
  EXPECT_THAT(read_file(file("top")), ContainsRegex("events +\\[.\\] (main|work)")) << output.err;
}

}  // namespace
}  // namespace pmusim::test

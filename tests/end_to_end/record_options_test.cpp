// SPDX-License-Identifier: MIT
// Options of `pmusim record` that shape the file, seen through perf.
#include <gmock/gmock.h>

#include <cstdlib>

#include "command.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class RecordCommandOptions : public testing::Test {
 protected:
  static std::string trace_path() { return recorded("branches", {"400"}); }
  std::string file() const { return scratch_.file("perf.data"); }
  Output try_record(std::vector<std::string> options) const {
    std::vector<std::string> command{pmusim(), "record", "-e", "instructions", "-c", "997", "-o", file()};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(trace_path());
    return run(command);
  }
  void record(std::vector<std::string> options) const {
    const Output output = try_record(std::move(options));
    EXPECT_EQ(output.status, 0) << output.err;
  }
  std::string perf(std::vector<std::string> arguments) const {
    return perf_output(std::move(arguments), file());
  }
  std::string header() const { return perf({"report", "--header-only", "-I"}); }

 private:
  ScratchDirectory scratch_;
};

TEST_F(RecordCommandOptions, TheHeaderDescribesTheEmulatedMachine) {
  record({});
  const std::string text = header();
  for (const char* line : {"# hostname : pmusim\n", "# os release : 7.3\n", "# cpudesc : pmusim Ice Lake\n",
                           "# nrcpus online : 1\n", "# total memory : 16777216 kB\n",
                           "# CPU 0: Core ID 0, Die ID 0, Socket ID 0\n", "# node0 cpu list : 0\n",
                           "#  L1 Data                 48K [0]\n", "# cpu pmu capabilities: branches=32"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(RecordCommandOptions, TheKernelChosenIsTheOneTheFileNames) {
  record({"--kernel", "6.12"});
  EXPECT_THAT(header(), HasSubstr("# os release : 6.12\n"));
}

TEST_F(RecordCommandOptions, AFilterForKernelBranchesAloneIsRefused) {
  for (const char* const filter : {"any,k", "any_call,hv", "k"}) {
    const Output output = try_record({"-j", filter});
    EXPECT_EQ(output.status, 2) << filter;
    EXPECT_THAT(output.err, HasSubstr("every stack would be empty")) << filter;
  }
  record({"-j", "any,k,u"});
}

TEST_F(RecordCommandOptions, ACoreOfAHybridSaysSo) {
  record({"--model", "skymont"});
  EXPECT_THAT(header(), HasSubstr("# hybrid cpu system:\n# cpu_atom cpu list : 0\n"));
  EXPECT_THAT(header(), HasSubstr("# cpu_atom pmu capabilities: branches="));
}

TEST_F(RecordCommandOptions, PerfReadsAStreamFromStandardOutput) {
  record({});
  const std::string from_file = perf({"script", "-F", "ip,sym,time,period"});
  const std::string command = pmusim() + " record -q -e instructions -c 997 -o - " + trace_path() +
                              " | perf script -i - -F ip,sym,time,period";
  const Output piped = run({"sh", "-c", command});
  EXPECT_EQ(piped.err, "");
  EXPECT_EQ(piped.out, from_file);
  const Output redirected =
      run({"sh", "-c", pmusim() + " record -q -e instructions -c 997 -o - " + trace_path() + " > " + file()});
  EXPECT_EQ(redirected.status, 0) << redirected.err;
  EXPECT_EQ(perf({"script", "-F", "ip,sym,time,period"}), from_file);
}

TEST_F(RecordCommandOptions, CompressedRecordsPrintTheSame) {
  record({});
  const std::string plain = perf({"script"});
  for (const char* option : {"-z", "--compression-level=9"}) {
    record({option});
    EXPECT_EQ(perf({"script"}), plain);
    EXPECT_THAT(header(), HasSubstr("# compressed : Zstd, level = "));
  }
  EXPECT_EQ(try_record({"--compression-level=23"}).status, 2);
}

TEST_F(RecordCommandOptions, ClocksReadableInAnNmiAreInTheHeader) {
  record({"-k", "monotonic_raw"});
  EXPECT_THAT(header(), HasSubstr("# clockid: monotonic_raw (4)\n"));
  EXPECT_THAT(perf({"script", "-F", "tod,ip"}), HasSubstr("1970-01-01"));
  const Output tai = try_record({"-k", "tai"});
  EXPECT_EQ(tai.status, 2);
  EXPECT_THAT(tai.err, HasSubstr("NMI"));
}

TEST_F(RecordCommandOptions, BuildIdsAreInATableInMappingsOrNowhere) {
  record({});
  EXPECT_THAT(perf({"buildid-list"}), HasSubstr("branches"));
  record({"-B"});
  EXPECT_THAT(header(), HasSubstr("missing features: TRACING_DATA BUILD_ID "));
  record({"-B", "--buildid-mmap"});
  EXPECT_THAT(perf({"script", "--show-mmap-events"}),
              testing::ContainsRegex("MMAP2 .* <[0-9a-f]{40}>\\]: r-xp .*/branches"));
}

TEST_F(RecordCommandOptions, TakeEveryAttributeSizeWithEnoughRoom) {
  for (const u32 bytes : {64u, 72u, 80u, 96u, 104u, 112u, 120u, 128u, 136u, 144u, 176u}) {
    record({"--attr-size", std::to_string(bytes)});
    const auto reader = perfdata::Reader::open(file());
    ASSERT_TRUE(reader.ok());
    EXPECT_EQ(reader->events().at(0).attr.size, bytes);
    if (bytes <= 128) {  // what perf 6.1 knows
      EXPECT_THAT(perf({"script"}), HasSubstr("instructions:")) << bytes;
    }
  }
  const Output small = try_record({"-b", "--attr-size", "72"});
  EXPECT_EQ(small.status, 2);
  EXPECT_THAT(small.err, HasSubstr("72 bytes"));
}

TEST_F(RecordCommandOptions, SamplesHoldWhatIsAskedFor) {
  record({"--data-page-size", "--code-page-size", "--transaction"});
  EXPECT_THAT(perf({"script", "-F", "code_page_size"}), HasSubstr("4K"));
  EXPECT_THAT(perf({"report", "-D"}), HasSubstr("... transaction: 0"));
  const Output output = run({pmusim(), "record", "-e", "instructions", "-c", "997", "--user-regs", "sp,ip",
                             "-o", file(), recorded("branches", {"400"}, "gpr")});
  EXPECT_EQ(output.status, 0) << output.err;
  EXPECT_THAT(perf({"script", "-F", "uregs"}), HasSubstr("ABI:2    SP:0x7ff"));
}

TEST_F(RecordCommandOptions, RefuseRegistersThatTheTraceLacks) {
  for (const char* option : {"--user-regs=sp", "--intr-regs=ax,ip"}) {
    const Output output = try_record({option});
    EXPECT_EQ(output.status, 2);
    EXPECT_THAT(output.err, HasSubstr("--regs gpr")) << option;
  }
  record({"--intr-regs=ip"});
}

TEST_F(RecordCommandOptions, ContextSwitchesOnRequest) {
  record({});
  EXPECT_THAT(perf({"script", "--show-switch-events"}), Not(HasSubstr("SWITCH")));
  record({"--switch-events"});
  EXPECT_THAT(perf({"script", "--show-switch-events"}), HasSubstr("PERF_RECORD_SWITCH_CPU_WIDE OUT"));
}

TEST_F(RecordCommandOptions, FrequenciesAreNumbersUpToTheLimitOrMax) {
  const auto frequency = [&](const char* value) {
    return run({pmusim(), "record", "-F", value, "--max-sample-rate", "50000", "-o", file(), trace_path()});
  };
  EXPECT_EQ(frequency("max").status, 0);
  EXPECT_THAT(header(), HasSubstr("{ sample_period, sample_freq } = 50000"));
  for (const char* bad : {"0", "-1", "often", "4k", ""}) EXPECT_EQ(frequency(bad).status, 2) << bad;
  EXPECT_THAT(frequency("50001").err, HasSubstr("perf_event_max_sample_rate 50000"));
}

TEST_F(RecordCommandOptions, QuietMeansQuiet) { EXPECT_EQ(try_record({"-q"}).err, ""); }

}  // namespace
}  // namespace pmusim::test

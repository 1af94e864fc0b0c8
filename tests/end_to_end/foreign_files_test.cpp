// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "tests/end_to_end/command.h"
#include "tests/perfdata/feature_editor.h"

/// report, script and annotate on perf.data files that pmusim does not write.
namespace pmusim::test {
namespace {

using perfdata::FeatureEditor;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

void write_file(const std::string& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Bytes bytes_of(const std::string& path) {
  const std::string text = read_file(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A profile of the branches workload with branch stacks.
std::string profile(const ScratchDirectory& scratch) {
  const std::string file = scratch.file("perf.data");
  const Output output = run({pmusim(), "record", "-q", "-b", "-e", "cycles:upp", "-c", "9001", "-o", file,
                             recorded("branches", {})});
  EXPECT_EQ(output.status, 0) << output.err;
  return file;
}

/// The samples as script and report have them.
struct Seen {
  std::string script;
  std::size_t samples = 0;
  std::size_t warnings = 0;
};

Seen seen(const std::string& file) {
  Seen seen;
  const Output script = run({pmusim(), "script", "-F", "tid,time,period,ip,brstack", "-i", file});
  EXPECT_EQ(script.status, 0) << script.err;
  seen.script = script.out;
  seen.warnings = lines(script.err).size();
  const Output report = run({pmusim(), "report", "--sort", "module", "-i", file});
  EXPECT_EQ(report.status, 0) << report.err;
  static const std::regex total("^# [^\n]*: ([0-9]+) samples");
  if (std::smatch found; std::regex_search(report.out, found, total)) seen.samples = std::stoul(found[1]);
  return seen;
}

TEST(ForeignFiles, HaveTheSameSamplesWhateverTheirFeaturesHave) {
  const ScratchDirectory scratch;
  const std::string file = profile(scratch), edited = scratch.file("edited");
  const FeatureEditor whole(bytes_of(file));
  const Seen expected = seen(file);
  ASSERT_GT(expected.samples, 10u);
  EXPECT_EQ(expected.warnings, 0u);
  for (const unsigned feature : whole.features()) {
    Bytes cut = whole.payload(feature), longer = cut;
    if (!cut.empty()) cut.pop_back();
    longer.resize(longer.size() + 8);
    for (const Bytes& payload : {Bytes(), cut, longer}) {
      write_file(edited, FeatureEditor(whole).replace(feature, payload).bytes());
      const Seen now = seen(edited);
      EXPECT_EQ(now.script, expected.script) << feature << ' ' << payload.size();
      EXPECT_EQ(now.samples, expected.samples) << feature << ' ' << payload.size();
      EXPECT_LE(now.warnings, 1u) << feature << ' ' << payload.size();
    }
  }
}

TEST(ForeignFiles, ComeThroughStandardInput) {
  const ScratchDirectory scratch;
  const std::string file = profile(scratch);
  const auto through_stdin = [&](const std::string& command) {
    return run({"sh", "-c", pmusim() + " " + command + " -i - < " + file});
  };
  const Output script = through_stdin("script");
  EXPECT_EQ(script.status, 0) << script.err;
  EXPECT_EQ(script.out, run({pmusim(), "script", "-i", file}).out);
  for (const char* command : {"report", "annotate"}) {
    const Output output = through_stdin(command);
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_FALSE(output.out.empty());
  }
  const Output none = run({"sh", "-c", "head -c 100000 /dev/zero | " + pmusim() + " report -i -"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("standard input: at offset 0x0: no PERFILE2 mark"));
}

TEST(ForeignFiles, OfUnknownRecordsAreReadWithASentence) {
  const ScratchDirectory scratch;
  const std::string stream = scratch.file("stream");
  ASSERT_EQ(
      run({"sh", "-c",
           pmusim() + " record -q -e cycles:upp -c 9001 -o - " + recorded("branches", {}) + " > " + stream})
          .status,
      0);
  const std::string before = run({pmusim(), "script", "-i", stream}).out;
  std::ofstream(stream, std::ios::binary | std::ios::app) << std::string("\x78\0\0\0\0\0\10\0", 8);
  for (const char* command : {"script", "report"}) {
    const Output output = run({pmusim(), command, "-i", stream});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(
        output.err,
        HasSubstr("pmusim: " + stream +
                  ": records that are unknown here are left out (1 of type 120): samples may be missing\n"));
  }
  EXPECT_EQ(run({pmusim(), "script", "-i", stream}).out, before);
}

TEST(ForeignFiles, ThatAreCutAreReadAsFarAsTheyGo) {
  const ScratchDirectory scratch;
  const std::string file = profile(scratch), cut = scratch.file("cut");
  const Bytes whole = bytes_of(file);
  u64 data[2];
  std::memcpy(data, whole.data() + 40, sizeof data);
  const u64 end = data[0] + data[1] / 2;
  write_file(cut, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(end)});
  const auto samples = lines(run({pmusim(), "script", "-F", "time,ip", "-i", file}).out);
  for (const char* command : {"script", "report", "annotate"}) {
    const Output output = run({pmusim(), command, "-i", cut});
    EXPECT_EQ(output.status, 0) << output.err;
    EXPECT_THAT(output.err,
                HasSubstr(fmt::format(
                    "pmusim: {}: the file ends at {:#x}, within its data section; missing bytes: {} "
                    "of {}\n",
                    cut, end, data[0] + data[1] - end, data[1])))
        << command;
  }
  const auto left = lines(run({pmusim(), "script", "-F", "time,ip", "-i", cut}).out);
  ASSERT_GT(left.size(), samples.size() / 3);
  ASSERT_LT(left.size(), samples.size());
  EXPECT_TRUE(std::equal(left.begin(), left.end(), samples.begin()));
}

}  // namespace
}  // namespace pmusim::test

// SPDX-License-Identifier: MIT
// Programs that people run: a piece of each is recorded under the fast recorder and replayed, and the real
// perf names what it finds. scripts/real_programs.sh has whole runs.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>

#include "tests/end_to_end/command.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

struct RealProgram {
  std::string name;
  std::vector<std::string> command;  // the input's name comes behind it
  std::string input;
  std::string skip, count;  // instructions
  /// What perf is to find: the shared library or program, and the beginning of a function's name in it.
  std::string module, function;
};

void PrintTo(const RealProgram& program, std::ostream* out) { *out << program.name; }

std::string some_text() {
  std::string text;
  for (unsigned n = 0; text.size() < 20'000; ++n)
    text += std::to_string(n * n) + (n % 7 == 0 ? "\n" : " word ");
  return text;
}

std::vector<RealProgram> real_programs() {
  return {
      {"gzip", {"gzip", "-kf"}, some_text(), "0", "1500000", "ld-linux-x86-64.so.2", "do_lookup_x"},
      {"compiler",
       {"sh", "-c", "$(gcc -print-prog-name=cc1) -quiet -o /dev/null $0"},
       "int main(void) { return 2; }\n",
       "1000000",
       "2000000",
       "cc1",
       ""},
      {"python",
       {"sh", "-c", "exec /usr/bin/python3 -S -E $0"},
       "print(sum(n * n for n in range(5000)))\n",
       "4000000",
       "1500000",
       "python3",
       "_PyEval_EvalFrameDefault"},
      {"sqlite",
       {"sqlite3", ":memory:", "-init"},
       "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000) "
       "insert into t select i, 'x' || i from n; select sum(a) from t;\n.quit\n",
       "500000",
       "1500000",
       "libsqlite3.so",
       "sqlite3"},
      {"xz", {"xz", "-T2", "-0", "-kf"}, some_text(), "0", "4000000", "liblzma.so", "lzma_"},
  };
}

class RealProgramTest : public testing::TestWithParam<RealProgram> {};

TEST_P(RealProgramTest, IsRecordedFastReplayedAndNamedByPerf) {
  const RealProgram& program = GetParam();
  if (!installed(program.command.front()) || !installed("qemu-x86_64")) GTEST_SKIP() << "not installed";
  ScratchDirectory scratch;
  const std::string input = scratch.file("input"), trace = scratch.file("t"),
                    profile = scratch.file("perf.data");
  std::ofstream(input) << program.input;
  std::vector<std::string> record{pmusim(), "trace",      "record",  "--fast",      "-o", trace,
                                  "--skip", program.skip, "--count", program.count, "--"};
  record.insert(record.end(), program.command.begin(), program.command.end());
  record.push_back(input);
  const Output recorded = run(record);
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  EXPECT_THAT(recorded.err, HasSubstr("recorded under qemu"));

  const Output replayed =
      run({pmusim(), "record", "-q", "-e", "cycles:upp", "-c", "1009", "-b", "-o", profile, trace});
  ASSERT_EQ(replayed.status, 0) << replayed.err;
  const auto functions = lines(perf_output({"report", "--sort", "dso,sym", "--stdio", "-q"}, profile));
  const auto is_named = [&](const std::string& line) {
    return line.find(program.module) != std::string::npos &&
           line.find("[.] " + program.function) != std::string::npos &&
           line.find("[.] 0x") == std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(functions, is_named)) << testing::PrintToString(functions);
}

INSTANTIATE_TEST_SUITE_P(Each, RealProgramTest, testing::ValuesIn(real_programs()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace pmusim::test

// Ordinary programs do the same recorded and not: what they print, how they end, and what they see of
// themselves (ordinary/self.h says what the recorder cannot hide).
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "command.h"

namespace pmusim::test {
namespace {

struct Ordinary {
  const char* name;
  const char* needs;  ///< a program, found in PATH or among those built for this test
  std::vector<std::string> arguments;
};

constexpr const char* lua_script =
    "local t = {} for i = 1, 8 do t[i] = tostring(i * 7919 % 1009) end table.sort(t) "
    "print(table.concat(t, ' '), pcall(error, 'caught')) return 6";
constexpr const char* jit_script =
    "local sum = 0 for i = 1, 300 do sum = sum + i % 7 end print(sum, jit.status()) return 5";

const std::vector<Ordinary> programs{
    {"ShellPipeline", "busybox", {"sh", "-c", "echo one two | busybox tr a-z A-Z | busybox wc -c; exit 3"}},
    {"StaticBinary", "busybox", {"sort", "-r", "/etc/shells"}},
    {"ThreadedCompressor", "compress", {}},
    {"Exceptions", "exceptions", {}},
    {"Interpreter", "lua", {lua_script}},
    {"Jit", "luajit", {jit_script}},
    {"Signals", "signals", {}},
    {"ExecFromAThread", "exec_from_thread", {}},
    {"Daemon", "daemon", {}},
    {"Debugger", "debugger", {}},
};

std::vector<std::string> command_of(const Ordinary& program) {
  const std::string built = std::string(TEST_ORDINARY_PROGRAMS) + "/" + program.needs;
  std::vector<std::string> command{std::filesystem::exists(built) ? built : program.needs};
  command.insert(command.end(), program.arguments.begin(), program.arguments.end());
  return command;
}

/// The output of the program alone: what the recorder says at its end is taken off, and put in as the status.
Output without_summary(const Output& recorded) {
  static const std::regex summary(
      "recorded [0-9,]+ instructions of .*\nthe program (exited with status|was ended by signal) "
      "([0-9]+)\n.*\n$");
  std::smatch found;
  if (recorded.status != 0 || !std::regex_search(recorded.err, found, summary)) return recorded;
  const int number = std::stoi(found[2]);
  return {found[1] == "was ended by signal" ? 128 + number : number, recorded.out, found.prefix()};
}

class OrdinaryProgram : public testing::TestWithParam<Ordinary> {};

TEST_P(OrdinaryProgram, DoesTheSameRecordedAndNot) {
  const std::vector<std::string> command = command_of(GetParam());
  const Output alone = run(command);
  if (alone.status == 127) GTEST_SKIP() << GetParam().needs << " is not installed";
  const ScratchDirectory scratch;
  std::vector<std::string> recording{pmusim(), "trace", "record", "--step", "-o", scratch.file("trace"),
                                     "--"};
  recording.insert(recording.end(), command.begin(), command.end());
  const Output recorded = without_summary(run(recording));
  EXPECT_EQ(recorded.status, alone.status);
  EXPECT_EQ(recorded.out, alone.out);
  EXPECT_EQ(recorded.err, alone.err);
  EXPECT_NE(alone.out, "");
}

INSTANTIATE_TEST_SUITE_P(Of, OrdinaryProgram, testing::ValuesIn(programs),
                         [](const testing::TestParamInfo<Ordinary>& tested) { return tested.param.name; });

}  // namespace
}  // namespace pmusim::test

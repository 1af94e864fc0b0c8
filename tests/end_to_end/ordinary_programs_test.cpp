// SPDX-License-Identifier: MIT
// Ordinary programs do the same recorded and not: what they print, how they end, and what they see of
// themselves (ordinary/self.h says what the recorder cannot hide).
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <tuple>

#include "command.h"

namespace pmusim::test::ordinary_programs_test {
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

/// A recorder, and the lines of a program's output in which docs/traces.md says that it shows itself.
struct Disguise {
  const char* name;
  const char* option;
  const char* shows_itself;
};

const std::vector<Disguise> recorders{
    {"BySteps", "--step", "$^"},
    {"UnderQemu", "--fast",
     "(secure|Name:|FDSize:|Threads:|Sig(Cgt|Ign):|NoNewPrivs:|Seccomp(_filters)?:|descriptor \\d{3,}|qemu: "
     "uncaught).*\n"},
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
      "([0-9]+)\n(.*\n)+$");
  std::smatch found;
  if (recorded.status != 0 || !std::regex_search(recorded.err, found, summary)) return recorded;
  const int number = std::stoi(found[2]);
  return {found[1] == "was ended by signal" ? 128 + number : number, recorded.out, found.prefix()};
}

using Recorded = std::tuple<Ordinary, Disguise>;

class OrdinaryProgram : public testing::TestWithParam<Recorded> {};

TEST_P(OrdinaryProgram, DoesTheSameRecordedAndNot) {
  const auto& [program, recorder] = GetParam();
  const std::vector<std::string> command = command_of(program);
  const Output alone = run(command);
  if (alone.status == 127) GTEST_SKIP() << program.needs << " is not installed";
  const ScratchDirectory scratch;
  std::vector<std::string> recording{
      pmusim(), "trace", "record", recorder.option, "-o", scratch.file("trace"), "--"};
  recording.insert(recording.end(), command.begin(), command.end());
  const Output recorded = without_summary(run(recording));
  const std::regex itself(recorder.shows_itself);
  const auto of_the_program = [&](const std::string& text) { return std::regex_replace(text, itself, ""); };
  EXPECT_EQ(recorded.status, alone.status);
  EXPECT_EQ(of_the_program(recorded.out), of_the_program(alone.out));
  EXPECT_EQ(of_the_program(recorded.err), of_the_program(alone.err));
  EXPECT_NE(alone.out, "");
}

/// qemu has neither the trap flag's steps nor ICEBP, which is what the debugger is about.
std::vector<Recorded> recordings() {
  std::vector<Recorded> all;
  for (const Disguise& recorder : recorders)
    for (const Ordinary& program : programs)
      if (std::string(recorder.name) != "UnderQemu" || std::string(program.name) != "Debugger")
        all.emplace_back(program, recorder);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Of, OrdinaryProgram, testing::ValuesIn(recordings()),
                         [](const testing::TestParamInfo<Recorded>& tested) {
                           return std::string(std::get<Ordinary>(tested.param).name) + "_" +
                                  std::get<Disguise>(tested.param).name;
                         });

}  // namespace
}  // namespace pmusim::test::ordinary_programs_test

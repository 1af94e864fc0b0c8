// SPDX-License-Identifier: MIT
// `pmusim trace record` is ended at random moments by every signal there is: what stays is a readable trace
// or nothing.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "command.h"
#include "pmusim/trace/trace.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;

bool is_readable_trace(const std::string& path) {
  auto reader = trace::Reader::open(path);
  if (!reader.ok()) return false;
  for (;;) {
    const auto item = reader->next();
    if (!item.ok()) return false;
    if (!item->has_value()) return true;
  }
}

std::vector<std::string> names_in(const ScratchDirectory& scratch) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(scratch.path())) names.push_back(entry.path().filename());
  return names;
}

/// Whether a process has `word` in its command line: a recorder, or its child before it executes the program.
bool is_running(const std::string& word) {
  return std::ranges::any_of(command_lines(),
                             [&](const std::string& line) { return line.find(word) != line.npos; });
}

bool ends_soon(const std::string& word) {
  for (int tenths = 0; tenths < 100; ++tenths) {
    if (!is_running(word)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

struct Ending {
  const char* name;
  std::vector<int> signals;
  bool can_be_caught = true;
};

// Every signal that ends a process and is not the sign of a fault of its own.
const std::vector<Ending> endings{
    {"Terminals", {SIGHUP, SIGINT, SIGQUIT, SIGTERM}},
    {"Pipes", {SIGPIPE, SIGIO, SIGPWR, SIGSTKFLT}},
    {"Limits", {SIGXCPU, SIGXFSZ, SIGALRM, SIGVTALRM, SIGPROF}},
    {"Users", {SIGUSR1, SIGUSR2, SIGRTMIN, SIGRTMAX}},
    {"Kill", {SIGKILL}, false},
};

class InterruptedRecorder : public testing::TestWithParam<Ending> {};

// 20 moments for each group, by the fast recorder and by single steps in turn: 100.
TEST_P(InterruptedRecorder, LeavesAReadableTraceOrNothing) {
  const Ending& ending = GetParam();
  std::mt19937 random(static_cast<unsigned>(ending.signals.front()));
  for (std::size_t round = 0; round < 20; ++round) {
    const ScratchDirectory scratch;
    const std::string trace = scratch.file("trace");
    std::vector<std::string> command{pmusim(), "trace", "record", "-o", trace};
    if (round % 2 != 0) command.emplace_back("--step");
    for (const std::string& word : {std::string("--"), workload("branches"), std::string("40000000")})
      command.push_back(word);
    Running recorder(command);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
    const int signal = ending.signals[round % ending.signals.size()];
    const int status = recorder.end_with(signal);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status << " after " << signal;
    EXPECT_TRUE(!fs::exists(trace) || is_readable_trace(trace)) << signal << ", round " << round;
    EXPECT_TRUE(ends_soon(trace)) << "a process stays behind after " << signal << ", round " << round;
    if (!ending.can_be_caught) continue;
    EXPECT_THAT(names_in(scratch), testing::Each("trace")) << signal << ", round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(By, InterruptedRecorder, testing::ValuesIn(endings),
                         [](const testing::TestParamInfo<Ending>& tested) { return tested.param.name; });

}  // namespace
}  // namespace pmusim::test

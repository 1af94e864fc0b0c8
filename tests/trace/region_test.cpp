// SPDX-License-Identifier: MIT
// Recordings of a part of a program's run, by single steps.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "pmusim/trace/trace.h"
#include "tests/trace/child_process.h"
#include "tests/trace/programs.h"
#include "tests/trace/sample_trace.h"
#include "tests/trace/symbols.h"
#include "trace/region_gate.h"
#include "trace/tracee.h"

namespace pmusim::trace {
namespace {

using testing::HasSubstr;

const std::string branches = WORKLOADS "/branches";

std::vector<OwnedItem> runs_of(const std::vector<OwnedItem>& items) {
  std::vector<OwnedItem> runs;
  for (const OwnedItem& item : items)
    if (!item.side_band) runs.push_back(item);
  return runs;
}

class RegionTest : public testing::Test {
 protected:
  std::vector<OwnedItem> recorded(const std::vector<std::string>& command, const Region& region = {}) {
    const auto result = record(
        command, {.output = directory_.file("t"), .registers = RecordedRegisters::gpr, .region = region});
    if (!result.ok()) {
      ADD_FAILURE() << result.error().message;
      return {};
    }
    summary = *result;
    return read_all(directory_.file("t")).value();
  }
  std::string refusal(const std::vector<std::string>& command, const Region& region) {
    const auto result = record(command, {.output = directory_.file("t"), .region = region});
    return result.ok() ? "no error" : result.error().message;
  }

  TemporaryDirectory directory_;
  RecordingSummary summary;
};

/// A program that runs while the test does.
class Child : public ChildProcess {
 public:
  explicit Child(const std::vector<std::string>& command) {
    if (pid() != 0) return;
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  void wait_until_it_is(const std::string& program) const {
    const std::string link = fmt::format("/proc/{}/exe", pid());
    std::error_code error;
    while (std::filesystem::read_symlink(link, error).filename() != program) std::this_thread::yield();
  }
  std::string status_line(const std::string& name) const {
    std::ifstream file(fmt::format("/proc/{}/status", pid()));
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(name)) return line;
    return "";
  }
};

TEST_F(RegionTest, BetweenTwoFunctionsIsThatPartOfTheWhole) {
  const std::vector<std::string> command{branches, "27"};
  const auto whole = runs_of(recorded(command));
  const auto part = runs_of(recorded(command, {.start_symbol = "branches", .stop_symbol = "printf"}));
  const u64 start = symbol_address(branches, "branches");
  const auto first = std::ranges::find(whole, start, &OwnedItem::start);
  ASSERT_NE(first, whole.end());
  ASSERT_GT(part.size(), 27u * 10);
  ASSERT_LE(part.size(), static_cast<std::size_t>(whole.end() - first));
  EXPECT_TRUE(std::equal(part.begin(), part.end(), first)) << "breakpoints are not in the code either";
  EXPECT_EQ(part.front().start, start);
  EXPECT_TRUE(summary.let_go);
  EXPECT_EQ(summary.status, 0) << "the program ended as ever";
}

TEST_F(RegionTest, BeginsAtALibrarysFunctionWithTheMapAsItIsThere) {
  const auto items = recorded({branches, "27"}, {.start_symbol = "printf"});
  bool has_library = false;
  for (const OwnedItem& item : items)
    if (item.side_band)
      if (const auto* map = std::get_if<Map>(&*item.side_band))
        has_library = has_library || map->mapping.path.find("libc") != std::string::npos;
  EXPECT_TRUE(has_library);
  const auto offset = file_offset_of_function("/lib/x86_64-linux-gnu/libc.so.6", "printf");
  ASSERT_TRUE(offset);
  EXPECT_EQ(runs_of(items).front().start % 4096, *offset % 4096);
}

TEST_F(RegionTest, SkipsAndCountsInstructions) {
  const std::vector<std::string> command{branches, "27"};
  const auto whole = runs_of(recorded(command, {.count = 8000}));
  const auto part = runs_of(recorded(command, {.skip = 5000, .count = 1000}));
  EXPECT_GE(summary.instructions, 1000u);
  EXPECT_LT(summary.instructions, 1000u + max_block_instructions);
  const auto first = std::search(whole.begin(), whole.end(), part.begin(), part.end());
  ASSERT_NE(first, whole.end());
  EXPECT_GT(first, whole.begin() + 5000 / max_block_instructions);
}

TEST_F(RegionTest, BeginsAfterADelay) {
  recorded({branches, "40000000"}, {.delay_ms = 10, .count = 10'000});
  EXPECT_GE(summary.instructions, 10'000u);
}

TEST_F(RegionTest, BeginsAtAFunctionBehindADelay) {
  const auto items =
      recorded({branches, "40000000"}, {.delay_ms = 10, .start_symbol = "lfsr", .count = 1000});
  ASSERT_FALSE(runs_of(items).empty());
  EXPECT_EQ(runs_of(items).front().start, symbol_address(branches, "lfsr"));
}

TEST_F(RegionTest, BeginsInAThreadAndFollowsTheOthersFromThere) {
  const std::string threads = programs + "threads";
  const auto items = recorded({threads}, {.start_symbol = "work"});
  EXPECT_EQ(WEXITSTATUS(summary.status), 100);
  ASSERT_FALSE(runs_of(items).empty());
  EXPECT_EQ(runs_of(items).front().start, symbol_address(threads, "work"));
  std::vector<u32> ends;
  for (const OwnedItem& item : items)
    if (item.side_band)
      if (const auto* exit = std::get_if<ThreadExit>(&*item.side_band)) ends.push_back(exit->tid);
  EXPECT_GE(ends.size(), 2u) << "the thread that began and the first";
}

TEST_F(RegionTest, BeginsInAChildThatItsParentForked) {
  const std::string orphans = programs + "orphans";  // ends in the last of forty generations
  recorded({orphans}, {.start_symbol = "_exit"});
  EXPECT_EQ(WEXITSTATUS(summary.status), 7);
}

/// Children of this process that run the program.
std::vector<pid_t> children_that_run(const std::string& program) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto pid = static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    if (pid <= 0) continue;
    const std::string text = proc_file(static_cast<u32>(pid), "status");
    const bool is_child = text.find(fmt::format("PPid:\t{}\n", ::getpid())) != std::string::npos;
    const bool is_free = text.find("TracerPid:\t0\n") != std::string::npos;
    if (is_child && is_free && text.starts_with("Name:\t" + program + "\n")) found.push_back(pid);
  }
  return found;
}

// The program goes on behind its region, and the recorder waits for it: until it is told to stop.
TEST_F(RegionTest, AProgramPastItIsKilledWhenTheRecorderIsStopped) {
  struct sigaction interrupting {
  }, before{};
  interrupting.sa_handler = [](int) {};
  ::sigaction(SIGUSR1, &interrupting, &before);
  std::atomic<bool> stop = false, done = false;
  const pthread_t recorder = ::pthread_self();
  std::thread user([&] {
    while (!done && children_that_run("branches").empty()) std::this_thread::yield();
    for (int n = 0; !done; ++n) {
      if (n == 10) stop = true;
      ::pthread_kill(recorder, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  RecordingOptions options{.output = directory_.file("t"), .region = {.count = 1000}};
  options.stop = &stop;
  const auto result = record({branches, "100000000000"}, options);
  const bool was_asked = stop;
  const auto left = children_that_run("branches");
  done = true;
  user.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  for (const pid_t pid : left) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_TRUE(was_asked) << "a signal alone ends nothing";
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(result->status, SIGKILL);
  EXPECT_TRUE(result->let_go);
}

// A thread that sleeps in a system call when its recording ends has more stops before it can be left.
TEST_F(RegionTest, LetsGoWhoIsAsleepAtItsEnd) {
  const auto items = recorded({programs + "behind", "asleep"}, {.stop_symbol = "region_end"});
  EXPECT_EQ(WEXITSTATUS(summary.status), 5) << "the child's call has gone on, and its signal is its own";
  EXPECT_TRUE(summary.let_go);
  EXPECT_EQ(summary.processes, 2u);
  EXPECT_FALSE(runs_of(items).empty());
}

TEST_F(RegionTest, ReportsTheProgramsStatusNotThatOfKilledChildren) {
  recorded({programs + "behind", "killed"}, {.stop_symbol = "region_end"});
  EXPECT_TRUE(WIFEXITED(summary.status));
  EXPECT_EQ(WEXITSTATUS(summary.status), 3);
  EXPECT_TRUE(summary.let_go);
}

TEST_F(RegionTest, ThatNeverBeginsIsAnErrorThatSaysWhy) {
  EXPECT_THAT(refusal({branches, "2"}, {.start_symbol = "no_such_function"}),
              HasSubstr("nothing was recorded: the program never reached 'no_such_function'"));
  EXPECT_THAT(refusal({branches, "2"}, {.start_symbol = "branches", .skip = u64{1} << 40}),
              HasSubstr("all of which --skip 1099511627776 leaves out"));
}

TEST_F(RegionTest, OfARunningProcessLeavesItRunning) {
  const Child child({branches, "100000000000"});
  child.wait_until_it_is("branches");
  const auto result =
      record_process(child.pid(), {.output = directory_.file("t"), .region = {.count = 10'000}});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_GE(result->instructions, 10'000u);
  EXPECT_TRUE(result->let_go);
  EXPECT_THAT(child.status_line("TracerPid"), HasSubstr("\t0"));
  EXPECT_THAT(child.status_line("State"), HasSubstr("R (running)"));
  EXPECT_FALSE(runs_of(read_all(directory_.file("t")).value()).empty());
}

TEST_F(RegionTest, OfASleepingProcessHasItsCallOnce) {
  const Child child({"/bin/sleep", "0.5"});
  child.wait_until_it_is("sleep");
  const auto result = record_process(child.pid(), {.output = directory_.file("t")});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->status, 0) << "it slept and ended as ever";
  EXPECT_FALSE(result->let_go);
  EXPECT_GT(result->instructions, 10u);
}

TEST_F(RegionTest, OfNoProcessIsRefused) {
  const auto result = record_process(0x7FFF'FFFF, {.output = directory_.file("t")});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("there is no such process"));
}

}  // namespace
}  // namespace pmusim::trace

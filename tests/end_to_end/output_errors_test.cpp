// SPDX-License-Identifier: MIT
// Output that nobody takes, and interrupts: exit code 2 and a sentence, a readable file or none.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <random>
#include <thread>

#include "command.h"
#include "pmusim/perfdata/reader.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;

std::string trace_path() { return recorded("branches", {"400"}); }

Output shell(const std::string& line) { return run({"sh", "-c", line}); }

TEST(OutputErrors, AFullOrClosedStandardOutputIsAnError) {
  const std::vector<std::string> commands{"models",
                                          "policies --json",
                                          "events",
                                          "--help",
                                          "help record",
                                          "stat --json " + trace_path(),
                                          "trace info " + trace_path()};
  for (const std::string& command : commands) {
    const Output full = shell(pmusim() + " " + command + " > /dev/full");
    EXPECT_EQ(full.status, 2) << command;
    EXPECT_THAT(full.err, HasSubstr("No space left on device")) << command;
    EXPECT_EQ(shell(pmusim() + " " + command + " >&-").status, 2) << command;
  }
}

TEST(OutputErrors, AFullOrClosedStandardErrorIsAnError) {
  const ScratchDirectory scratch;
  const std::vector<std::string> commands{"stat " + trace_path(),
                                          "record -o " + scratch.file("d") + " " + trace_path(), "models x"};
  for (const std::string& command : commands)
    for (const char* where : {" 2> /dev/full", " 2>&-"})
      EXPECT_EQ(shell(pmusim() + " " + command + where).status, 2) << command << where;
  EXPECT_TRUE(perfdata::Reader::open(scratch.file("d")).ok()) << "the file was complete before the summary";
}

TEST(OutputErrors, UnwritableNamesAreRefusedBeforeTheReplay) {
  const ScratchDirectory scratch;
  const std::string T = scratch.file("T"), L = scratch.file("L");
  std::filesystem::copy_file(trace_path(), T);
  std::filesystem::create_symlink(T, L);
  const std::string bytes = read_file(T);
  for (const char* command : {"record", "stat"}) {
    for (const std::string& name : {T, L}) {
      const Output same = run({pmusim(), command, "-o", name, T});
      EXPECT_EQ(same.status, 2) << command;
      EXPECT_THAT(same.err, HasSubstr("-o " + name + ": is the input"));
    }
    EXPECT_THAT(run({pmusim(), command, "-o", "", T}).err, HasSubstr("-o ''"));
    EXPECT_THAT(run({pmusim(), command, "-o", "no/such/file", T}).err, HasSubstr("no directory no/such"));
    EXPECT_THAT(run({pmusim(), command, "-o", scratch.path().string(), T}).err, HasSubstr("is a directory"));
  }
  EXPECT_EQ(read_file(T), bytes);
}

bool is_readable(const std::string& path) {
  auto reader = perfdata::Reader::open(path);
  if (!reader.ok()) return false;
  for (;;) {
    const auto record = reader->next();
    if (!record.ok()) return false;
    if (!record->has_value()) return true;
  }
}

// A limit on the size of files, with its signal ignored, fails like a full disk.
TEST(FullDisk, LeavesAReadableFileOrNoneAndASentence) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("branches", {"10000"}), file = scratch.file("perf.data");
  std::size_t failed = 0;
  for (int kib = 0; kib < 400; kib += 20) {  // 20 points
    std::filesystem::remove(file);
    const Output output = run({"bash", "-c",
                               "trap '' XFSZ; ulimit -f " + std::to_string(kib) + "; exec " + pmusim() +
                                   " record -q -b -c 997 -o " + file + " " + trace});
    if (output.status == 0) {
      EXPECT_TRUE(is_readable(file)) << kib;
      continue;
    }
    ++failed;
    EXPECT_EQ(output.status, 2) << kib;
    EXPECT_FALSE(std::filesystem::exists(file)) << kib;
  }
  EXPECT_GT(failed, 5u);
  EXPECT_LE(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1)
      << "nothing else stays";
}

class Interrupted : public testing::TestWithParam<int> {};

// 10 moments for each of five signals: 50.
TEST_P(Interrupted, ARecordingLeavesAReadableFileOrNone) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("branches", {"10000"});
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  std::size_t finished = 0;
  for (int round = 0; round < 10; ++round) {
    const std::string file = scratch.file("perf.data");
    std::filesystem::remove(file);
    Running recording({pmusim(), "record", "-b", "-c", "1009", "-o", file, trace});
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 600));
    const int status = recording.end_with(GetParam());
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << status;
    if (!std::filesystem::exists(file)) continue;
    ++finished;
    EXPECT_TRUE(is_readable(file));
  }
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path()))
    EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("perf.data", "perf.data.old"));
  RecordProperty("finished", static_cast<int>(finished));
}

INSTANTIATE_TEST_SUITE_P(By, Interrupted, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL));

TEST(Interrupts, AnInterruptedRecordingIsReadableAndEndsBySignal) {
  const ScratchDirectory scratch;
  const std::string file = scratch.file("perf.data");
  // The shell waits until the replay runs, which -v tells.
  const Output output =
      shell(pmusim() + " record -v -c 10k -o " + file + " " + recorded("branches", {"10000"}) + " 2> " +
            scratch.file("log") + " & p=$!; until grep -q cycles: " + scratch.file("log") +
            "; do :; done; kill -INT $p; kill -TERM $p; wait $p");
  EXPECT_THAT(output.status, testing::AnyOf(0, 128 + SIGTERM, 128 + SIGINT)) << output.err;
  EXPECT_TRUE(is_readable(file));
}

}  // namespace
}  // namespace pmusim::test

// SPDX-License-Identifier: MIT
// A signal ends stat and record: what there is by then is kept and called what it is, and what was there
// before is never lost.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <optional>

#include "command.h"
#include "pmusim/perfdata/reader.h"
#include "tests/support/json.h"

namespace pmusim::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// Whether a process has installed a handler: it then obeys the signal when it likes.
bool catches(int pid, int signal) {
  for (const std::string& line : lines(read_file("/proc/" + std::to_string(pid) + "/status")))
    if (line.starts_with("SigCgt:")) return std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1;
  return false;
}
void wait_until_caught(const Running& running, int signal) {
  for (int patience = 0; patience < 3000 && !catches(running.pid(), signal); ++patience) ::usleep(10'000);
  ASSERT_TRUE(catches(running.pid(), signal));
}

/// A replay that cannot get anywhere before its log has a reader.
class HeldReplay {
 public:
  HeldReplay(const ScratchDirectory& scratch, std::vector<std::string> command) : log_(scratch.file("log")) {
    ::mkfifo(log_.c_str(), 0600);
    command.insert(command.begin(), pmusim());
    command.insert(command.end(), {"--hw-log", log_, recorded("branches", {"20000"})});
    running_.emplace(command);
  }
  /// The signal comes first. The status as waitpid gives it.
  int end_with(int signal) const {
    wait_until_caught(*running_, signal);
    ::kill(running_->pid(), signal);
    std::ifstream(log_).ignore(std::numeric_limits<std::streamsize>::max());
    return running_->end_with(0);
  }

 private:
  std::string log_;
  std::optional<Running> running_;
};

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

bool ended_by(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

class PartialCounts : public testing::TestWithParam<int> {
 protected:
  std::string file(const std::string& name) const { return scratch_.file(name); }
  std::string name() const { return GetParam() == SIGINT ? "SIGINT" : "SIGTERM"; }
  ScratchDirectory scratch_;
};

TEST_P(PartialCounts, OfAReplayAreCalledSo) {
  const HeldReplay replay(scratch_, {"stat", "-o", file("counts")});
  EXPECT_TRUE(ended_by(replay.end_with(GetParam()), GetParam()));
  EXPECT_THAT(read_file(file("counts")), HasSubstr("partial counts: " + name() + " ended the run after"));
}

TEST_P(PartialCounts, AreCalledSoInLinesForPrograms) {
  const HeldReplay replay(scratch_, {"stat", "-x,", "-o", file("counts")});
  EXPECT_TRUE(ended_by(replay.end_with(GetParam()), GetParam()));
  EXPECT_THAT(read_file(file("counts")), HasSubstr("# partial counts: " + name()));
}

TEST_P(PartialCounts, AreCalledSoInJson) {
  const HeldReplay replay(scratch_, {"stat", "--json", "-o", file("counts")});
  EXPECT_TRUE(ended_by(replay.end_with(GetParam()), GetParam()));
  const auto json = parse_json(read_file(file("counts")));
  EXPECT_EQ(json.at("partial"), true);
}

TEST_P(PartialCounts, OfAProgramThatIsRunNowAreCalledSo) {
  const Running running({pmusim(), "stat", "-o", file("counts"), "--", workload("branches"), "4000000000"});
  wait_until_caught(running, GetParam());
  EXPECT_TRUE(ended_by(running.end_with(GetParam()), GetParam()));
  EXPECT_THAT(read_file(file("counts")), HasSubstr("partial counts: " + name()));
}

TEST_P(PartialCounts, ARecordingKeepsWhatItHas) {
  const HeldReplay replay(scratch_, {"record", "-c", "10007", "-o", file("perf.data")});
  EXPECT_TRUE(ended_by(replay.end_with(GetParam()), GetParam()));
  EXPECT_TRUE(perfdata::Reader::open(file("perf.data")).ok());
}

INSTANTIATE_TEST_SUITE_P(By, PartialCounts, testing::Values(SIGINT, SIGTERM));

TEST(WholeCounts, AreNotCalledPartial) {
  const std::string trace = recorded("branches", {"400"});
  EXPECT_THAT(run({pmusim(), "stat", trace}).err, Not(HasSubstr("partial")));
  EXPECT_EQ(parse_json(run({pmusim(), "stat", "--json", trace}).out).at("partial"), false);
}

TEST(CountsInAFile, AppearWhenTheyAreComplete) {
  const ScratchDirectory scratch;
  const std::string counts = scratch.file("counts");
  write_text(counts, "old\n");
  const Running running({pmusim(), "stat", "-o", counts, "--", workload("branches"), "4000000000"});
  wait_until_caught(running, SIGTERM);
  EXPECT_EQ(read_file(counts), "old\n");
  running.end_with(SIGKILL);
  EXPECT_EQ(read_file(counts), "old\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 1) << "nothing else stays";
}

TEST(CountsInAFile, OfADamagedTraceReplaceNothing) {
  const ScratchDirectory scratch;
  const std::string counts = scratch.file("counts"), trace = scratch.file("trace");
  std::string bytes = read_file(recorded("branches", {"400"}));
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  write_text(trace, bytes);
  write_text(counts, "old\n");
  EXPECT_EQ(run({pmusim(), "stat", "-o", counts, trace}).status, 2);
  EXPECT_EQ(read_file(counts), "old\n");
}

TEST(CountsInAFile, ReplaceOrFollowWhatWasThere) {
  const ScratchDirectory scratch;
  const std::string counts = scratch.file("counts"), trace = recorded("branches", {"400"});
  write_text(counts, "old\n");
  EXPECT_EQ(run({pmusim(), "stat", "--append", "-x,", "-o", counts, trace}).status, 0);
  EXPECT_THAT(read_file(counts), testing::StartsWith("old\n"));
  EXPECT_THAT(read_file(counts), HasSubstr("instructions"));
  EXPECT_EQ(run({pmusim(), "stat", "-x,", "-o", counts, trace}).status, 0);
  EXPECT_THAT(read_file(counts), Not(HasSubstr("old")));
}

// The reader takes one byte, and the recording has megabytes.
TEST(BrokenPipe, EndsARecordingWithoutASentence) {
  const Output output = run({"bash", "-c",
                             pmusim() + " record -q -b -c 101 -o - " + recorded("branches", {"20000"}) +
                                 " | head -c 1 > /dev/null; exit ${PIPESTATUS[0]}"});
  EXPECT_EQ(output.status, 128 + SIGPIPE);
  EXPECT_EQ(output.err, "");
}

// More than a pipe holds.
TEST(BrokenPipe, EndsWhatPrintsWithoutASentence) {
  const ScratchDirectory scratch;
  const std::string trace = recorded("branches", {"20000"}), profile = scratch.file("perf.data");
  ASSERT_EQ(run({pmusim(), "record", "-q", "-b", "-c", "997", "-o", profile, trace}).status, 0);
  for (const std::string& command :
       {"trace dump " + trace, "script -F +brstack -i " + profile, "script --json -i " + profile,
        "annotate --json -i " + profile,
        "record -q -b -c 101 --hw-log - -o " + scratch.file("d") + " " + trace}) {
    const Output output =
        run({"bash", "-c", pmusim() + " " + command + " | head -c 1 > /dev/null; exit ${PIPESTATUS[0]}"});
    EXPECT_EQ(output.status, 128 + SIGPIPE) << command;
    EXPECT_EQ(output.err, "") << command;
  }
}

}  // namespace
}  // namespace pmusim::test

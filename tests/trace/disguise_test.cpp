// SPDX-License-Identifier: MIT
// What recorded programs see of themselves is what they see without the recorder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "pmusim/trace/trace.h"
#include "tests/trace/programs.h"
#include "tests/trace/sample_trace.h"
#include "tests/trace/symbols.h"

namespace pmusim::trace {
namespace {

/// Standard output goes to a file as long as the object lives.
class OutputTo {
 public:
  explicit OutputTo(const std::string& file) : before_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    const int to = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(to, STDOUT_FILENO);
    ::close(to);
  }
  OutputTo(const OutputTo&) = delete;
  OutputTo& operator=(const OutputTo&) = delete;
  ~OutputTo() {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }

 private:
  int before_;
};

struct Outcome {
  int status = 0;
  std::string output;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::string text_of(const std::string& file) {
  const auto content = file_content(file);
  return {content.begin(), content.end()};
}

/// With an argument, if there is one.
Outcome run_alone(const std::string& program, const char* argument = nullptr) {
  TemporaryDirectory directory;
  Outcome run;
  {
    const OutputTo file(directory.file("out"));
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl(program.c_str(), program.c_str(), argument, nullptr);
      ::_exit(127);
    }
    ::waitpid(child, &run.status, 0);
  }
  run.output = text_of(directory.file("out"));
  return run;
}

Outcome run_recorded(const std::string& program, const char* argument = nullptr) {
  TemporaryDirectory directory;
  Outcome run;
  {
    const OutputTo file(directory.file("out"));
    std::vector<std::string> command{program};
    if (argument != nullptr) command.emplace_back(argument);
    const auto summary = record(command, {directory.file("t")});
    if (summary.ok()) run.status = summary->status;
  }
  run.output = text_of(directory.file("out"));
  return run;
}

TEST(Disguise, AProgramSeesItsTrapsItsCpusAndItsLimitsAsAlone) {
  const Outcome alone = run_alone(programs + "traps");
  EXPECT_THAT(alone.output, testing::HasSubstr("executed: 0 traps, ignored, blocked"));
  EXPECT_EQ(run_recorded(programs + "traps"), alone);
}

// As of a shell that has them ignored.
TEST(Disguise, AProgramThatIsStartedWithTrapsIgnoredSeesThat) {
  const auto ignored = std::signal(SIGTRAP, SIG_IGN);
  const Outcome alone = run_alone(programs + "traps", "started"),
                recorded = run_recorded(programs + "traps", "started");
  std::signal(SIGTRAP, ignored);
  EXPECT_EQ(alone.output, "started: 0 traps, ignored, not blocked\n");
  EXPECT_EQ(recorded, alone);
  EXPECT_EQ(run_recorded(programs + "traps", "started").output, "started: 0 traps, default, not blocked\n");
}

constexpr uid_t nobody = 65534;

/// Records a program as a user without rights, in a process of its own: how many programs are said to have
/// run without theirs.
int programs_without_rights(const std::string& program, const std::string& output) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool changed = ::setresgid(nobody, nobody, nobody) == 0 && ::setresuid(nobody, nobody, nobody) == 0;
    const auto summary = record({program, "again"}, {output});
    ::_exit(changed && summary.ok() ? static_cast<int>(summary->without_rights.size()) : 99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(Disguise, ASetuidProgramIsSaidToHaveRunWithoutItsRights) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program of another user's";
  TemporaryDirectory directory;
  const std::string folder = directory.file("open"), program = folder + "/program";
  ::chmod(std::filesystem::path(folder).parent_path().c_str(), 0711);
  std::filesystem::create_directory(folder);
  ::chmod(folder.c_str(), 0777);
  std::filesystem::copy_file(programs + "thread_exec", program);
  for (const mode_t mode : {0755, 04755}) {
    ::chmod(program.c_str(), mode);
    EXPECT_EQ(programs_without_rights(program, folder + "/t"), (mode & S_ISUID) != 0 ? 1 : 0);
  }
}

TEST(Disguise, AThreadThatIsNotTheFirstExecutes) {
  TemporaryDirectory directory;
  const auto summary = record({programs + "thread_exec"}, {directory.file("t")});
  ASSERT_TRUE(summary.ok());
  EXPECT_EQ(WEXITSTATUS(summary->status), 21);
  EXPECT_EQ(Reader::open(directory.file("t"))->instruction_count(), summary->instructions);
  constexpr u64 execve_call = 59;
  unsigned starts = 0, executes = 0, ends = 0;
  const auto items = read_all(directory.file("t"));
  ASSERT_TRUE(items.ok());
  for (const OwnedItem& item : *items) {
    if (!item.side_band) continue;
    if (const auto* call = std::get_if<Syscall>(&*item.side_band))
      executes += call->number == execve_call ? 1 : 0;
    starts += std::holds_alternative<ProcessStart>(*item.side_band) ? 1 : 0;
    ends += std::holds_alternative<ThreadExit>(*item.side_band) ? 1 : 0;
  }
  EXPECT_EQ(starts, 2u);
  EXPECT_EQ(executes, 1u);
  EXPECT_EQ(ends, 3u) << "the spinning thread, the executing one, and the program";
}

}  // namespace
}  // namespace pmusim::trace

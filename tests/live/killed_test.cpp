// SPDX-License-Identifier: MIT
// Commands that start a program are killed and interrupted at drawn moments, in which it has children,
// grandchildren and some that have left its session: none of them goes on, nor does anything of pmusim.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "live/processes.h"
#include "tests/live/live.h"

namespace pmusim::test::killed_test {
namespace {

struct Starter {
  const char* name;
  std::vector<std::string> command;
  unsigned waits_each =
      3;  ///< of so many rounds one waits for grandchildren, which take seconds by single steps
  friend std::ostream& operator<<(std::ostream& out, const Starter& starter) { return out << starter.name; }
};

/// While it is there, whoever has no parent any more becomes a child of this process, whatever it is called.
class Orphanage {
 public:
  Orphanage() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Orphanage() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Orphanage(const Orphanage&) = delete;
  Orphanage& operator=(const Orphanage&) = delete;

  /// Who has not ended by then. These are killed.
  static std::vector<std::string> left(std::chrono::milliseconds patience = std::chrono::minutes(1)) {
    const auto self = static_cast<u32>(::getpid());
    std::set<u32> there = wait_until(patience, [](const std::set<u32>& living) { return living.empty(); });
    std::vector<std::string> commands;
    for (const u32 pid : there) {
      commands.push_back(fmt::format("{}: {}", pid, read_file(fmt::format("/proc/{}/cmdline", pid))));
      std::ranges::replace(commands.back(), '\0', ' ');
    }
    for (; !there.empty(); there = living())
      for (const u32 pid : live::descendants_of(self)) ::kill(static_cast<pid_t>(pid), SIGKILL);
    return commands;
  }

  /// Who is there once there are so many, or none has come in that time.
  static std::size_t grown_to(std::size_t wanted) {
    return wait_until(std::chrono::seconds(20),
                      [&](const std::set<u32>& living) { return living.size() >= wanted; })
        .size();
  }

 private:
  template <class Condition>
  static std::set<u32> wait_until(std::chrono::milliseconds patience, Condition holds) {
    constexpr std::chrono::milliseconds look(20);
    std::set<u32> there = living();
    for (; patience.count() > 0 && !holds(there); patience -= look, there = living())
      std::this_thread::sleep_for(look);
    return there;
  }
  /// A scan can miss a process that forks meanwhile: none is there when two in a row see none.
  static std::set<u32> living() {
    std::set<u32> there;
    for (int scan = 0; scan < 2 && there.empty(); ++scan) {
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      there = live::descendants_of(static_cast<u32>(::getpid()));
    }
    return there;
  }
};

class Killed : public Live, public testing::WithParamInterface<Starter> {
 protected:
  /// Some that work and some that wait, children and grandchildren, in this session and in their own. What
  /// shells leave in the background does not hear SIGINT.
  std::vector<std::string> command() const {
    const std::string works = events_program + " work 4000000000000 & ", waits = "sleep 1000 & ",
                      own_session = installed("setsid") ? "setsid " : "";
    const std::string generations =
        fmt::format("(({1} {2}{0}) & {2}{1} {0} wait) & ", works, waits, own_session);
    std::vector<std::string> all{pmusim()};
    all.insert(all.end(), GetParam().command.begin(), GetParam().command.end());
    for (std::string& word : all)
      if (word == "OUT") word = file("out");
    all.insert(all.end(), {"--", "sh", "-c", generations + works + "wait"});
    return all;
  }
};

/// From the start on in most rounds, else once there are grandchildren. For longer runs
/// (scripts/soak.sh) PMUSIM_KILLS times as many moments, drawn from another PMUSIM_SEED.
TEST_P(Killed, LeavesNothing) {
  const Orphanage orphanage;
  ASSERT_TRUE(Orphanage::left().empty()) << "of an earlier test";
  std::mt19937 random(number_from("PMUSIM_SEED", 42));
  const unsigned moments = 12 * number_from("PMUSIM_KILLS", 1);
  constexpr unsigned latest_us = 400'000;
  constexpr std::size_t with_grandchildren = 6;  // the command, a shell, its children, and of theirs
  for (unsigned round = 0; round < moments; ++round) {
    constexpr int signals[] = {SIGKILL, SIGINT, SIGKILL, SIGTERM, SIGKILL, SIGHUP};
    const int signal = signals[round % std::size(signals)];
    const std::chrono::microseconds moment(random() % latest_us);
    const Running running(command());
    if (round % GetParam().waits_each == 2) {
      EXPECT_GE(Orphanage::grown_to(with_grandchildren), with_grandchildren);
    }
    std::this_thread::sleep_for(moment);
    running.end_with(signal);
    const std::vector<std::string> left = Orphanage::left();
    EXPECT_TRUE(left.empty()) << "signal " << signal << " after " << moment.count() << " us, round " << round
                              << ", left\n"
                              << fmt::to_string(fmt::join(left, "\n"));
  }
}

TEST(AnOrphanage, SeesWhoIsLeft) {
  const Orphanage orphanage;
  const Running shell({"sh", "-c", "sleep 1000 & sleep 1000 & wait"});
  ASSERT_GE(Orphanage::grown_to(3), 3u);
  shell.end_with(SIGKILL);
  EXPECT_EQ(Orphanage::left(std::chrono::milliseconds(100)).size(), 2u);
  EXPECT_TRUE(Orphanage::left().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Of, Killed,
    testing::Values(Starter{"run", {"run"}}, Starter{"run_of_many_cpus", {"run", "--machine", "skylake:4c"}},
                    Starter{"stat", {"stat", "-e", "cycles", "-o", "OUT"}},
                    Starter{"record", {"record", "-q", "-o", "OUT"}},
                    Starter{"trace_record", {"trace", "record", "-o", "OUT"}},
                    Starter{"trace_record_step", {"trace", "record", "--step", "-o", "OUT"}, 12}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace pmusim::test::killed_test

// SPDX-License-Identifier: MIT
// What a run shows on a terminal, and where it shows nothing.
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/live/live.h"

namespace pmusim::test {
namespace {

using testing::HasSubstr;
using testing::Not;

enum class Mode : u8 { lines, raw };

/// What a command prints on a terminal of its own, with standard error alone on it or standard output, too.
std::string on_terminal(const std::string& line, Mode mode = Mode::lines) {
  int terminal = -1;
  termios modes{};
  ::cfmakeraw(&modes);
  const pid_t child = ::forkpty(&terminal, nullptr, mode == Mode::raw ? &modes : nullptr, nullptr);
  if (child == 0) {
    ::execlp("sh", "sh", "-c", line.c_str(), nullptr);
    ::_exit(127);
  }
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t n = 0; (n = ::read(terminal, bytes.data(), bytes.size())) > 0 || (n < 0 && errno == EINTR);)
    text.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  return text;
}

std::string stepped(const std::string& options = "") {
  return pmusim() + " run " + options + " -- " + events_program + " start";
}

TEST_F(Live, ATerminalIsWarnedOfTheCostOfStepping) {
  const std::string text = on_terminal(stepped());
  EXPECT_THAT(text, HasSubstr("single-stepped"));
  EXPECT_THAT(text, HasSubstr("--progress shows"));
  EXPECT_LT(text.find("single-stepped"), text.find("20\r\n")) << "before what the program prints";
}

TEST_F(Live, NothingIsShownWhereNobodyLooksOrTheProgramDraws) {
  EXPECT_EQ(run_live({events_program, "start"}).err, "");
  EXPECT_THAT(on_terminal(stepped(), Mode::raw), Not(HasSubstr("stepped")));
  EXPECT_EQ(on_terminal(pmusim() + " run -- true"), "") << "nothing is stepped";
}

TEST_F(Live, ProgressIsDrawnOverItself) {
  const std::string counted = events_program + " work 20000";
  if (!installed("perf")) GTEST_SKIP() << "perf is not installed";
  const std::string command = " -- perf stat -e instructions:u " + counted;
  const std::string asked = on_terminal(pmusim() + " run --progress" + command),
                    elsewhere = on_terminal(pmusim() + " run" + command + " > /dev/null"),
                    shared = on_terminal(pmusim() + " run" + command);
  for (const std::string& text : {asked, elsewhere}) {
    EXPECT_THAT(text, testing::ContainsRegex("\rpmusim run: [0-9.]+ M instructions, [0-9.]+ M/s"));
    EXPECT_THAT(text, HasSubstr("\r\033[K")) << "gone at the end";
  }
  EXPECT_THAT(shared, Not(HasSubstr("M instructions"))) << "the program prints there";
}

}  // namespace
}  // namespace pmusim::test

// SPDX-License-Identifier: MIT
#include "pager.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "program_argument.h"

namespace pmusim::tools {
namespace {

struct Pager {
  pid_t process = 0;
  int terminal = -1;
};
Pager pager;  // signal handlers have no other way to it

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Empty: none.
std::string pager_command() {
  for (const char* const name : {"PMUSIM_PAGER", "PAGER"})
    if (std::getenv(name) != nullptr) return environment(name) == "cat" ? "" : environment(name);
  return is_on_path("less") ? "less" : "";
}

bool is_wanted() {
  const std::string terminal = environment("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && !terminal.empty() && terminal != "dumb";
}

/// The child. A pager that began before there is anything to show would take the terminal from messages.
[[noreturn]] void run_pager(const std::string& command, int input) {
  ::dup2(input, STDIN_FILENO);
  ::close(input);
  pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
  }
  if ((ready.revents & POLLIN) == 0) std::_Exit(0);
  // As git: end where all fits on the screen, keep colours, and leave the text on the terminal.
  ::setenv("LESS", "FRX", 0);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  std::_Exit(127);
}

/// What is called here may be called by a signal handler.
void wait_for_pager() {
  ::dup2(pager.terminal, STDOUT_FILENO);  // the pipe's last end
  while (::waitpid(pager.process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// A pager that goes on without us would fight with the shell for the terminal.
void end_with_pager(int number) {
  wait_for_pager();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

void start_pager() {
  const std::string command = pager_command();
  int ends[2];
  if (command.empty() || !is_wanted() || ::pipe2(ends, O_CLOEXEC) != 0) return;
  pager.terminal = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  std::fflush(stdout);
  pager.process = pager.terminal < 0 ? -1 : ::fork();
  if (pager.process == 0) {
    ::close(ends[1]);
    run_pager(command, ends[0]);
  }
  ::close(ends[0]);
  if (pager.process > 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(number, end_with_pager);
    std::atexit(stop_pager);
  }
  ::close(ends[1]);
}

void stop_pager() {
  if (pager.process <= 0) return;
  std::fflush(stdout);
  std::signal(SIGINT, SIG_IGN);  // it is the pager's
  wait_for_pager();
  std::signal(SIGINT, SIG_DFL);
  pager.process = 0;
}

bool output_is_terminal() { return pager.process > 0 || ::isatty(STDOUT_FILENO) != 0; }

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include "interrupts.h"

#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <vector>

namespace pmusim::tools {

namespace {

// A signal handler cannot be given a place of its own.
std::atomic<int> noted = 0;
std::atomic<bool> to_end = false, ctrl_c_noted = false;
std::atomic<CtrlC> ctrl_c = CtrlC::command;
static_assert(std::atomic<int>::is_always_lock_free);

/// All that end a process, and are no sign of a fault of its own.
std::vector<int> ending_signals() {
  std::vector<int> signals{SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE,   SIGALRM, SIGTERM, SIGUSR1,  SIGUSR2,
                           SIGXCPU, SIGXFSZ, SIGPROF, SIGVTALRM, SIGIO,   SIGPWR,  SIGSTKFLT};
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) signals.push_back(signal);
  return signals;
}

/// The program decides about Ctrl-C, a write says that its file has become too long, and the timer is below.
bool asks_to_end(int signal, const siginfo_t& info) {
  const bool from_kernel = info.si_code > 0;
  if (signal == SIGINT && from_kernel) ctrl_c_noted = true;
  if (signal == SIGINT) return !from_kernel || ctrl_c == CtrlC::command;
  if (signal == SIGXFSZ) return info.si_pid != ::getpid();
  return signal != SIGALRM || !from_kernel;
}

void set_timer(suseconds_t us) {
  const itimerval times{{0, us}, {0, us}};
  ::setitimer(ITIMER_REAL, &times, nullptr);
}

void note(int signal, siginfo_t* info, void*) {
  if (!asks_to_end(signal, *info)) return;
  int none = 0;
  noted.compare_exchange_strong(none, signal);
  to_end = true;
  // Between looking and waiting for a program one signal would go unnoticed; those of a timer do not.
  if (ctrl_c == CtrlC::program) set_timer(50'000);
}

}  // namespace

Interrupts::Interrupts(CtrlC meant_for) {
  noted = 0;
  to_end = ctrl_c_noted = false;
  ctrl_c = meant_for;
  // A handler, unlike an ignored signal, does not outlive the exec of a program that is recorded.
  struct sigaction action {};
  action.sa_sigaction = note;
  for (const int signal : ending_signals()) {
    action.sa_flags = SA_SIGINFO | (signal == SIGALRM ? 0 : SA_RESTART);  // writes go on, waiting ends
    struct sigaction& before = before_[static_cast<std::size_t>(signal)];
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // nohup stays in force
  }
}

Interrupts::~Interrupts() {
  set_timer(0);
  for (const int signal : ending_signals())
    ::sigaction(signal, &before_[static_cast<std::size_t>(signal)], nullptr);
}

int Interrupts::caught() { return noted; }
const std::atomic<bool>& Interrupts::end_requested() { return to_end; }
bool Interrupts::ctrl_c_came() { return ctrl_c_noted; }

std::string signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    case SIGQUIT:
      return "SIGQUIT";
    default:
      return "signal " + std::to_string(signal);
  }
}

void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace pmusim::tools

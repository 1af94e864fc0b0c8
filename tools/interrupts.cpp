// SPDX-License-Identifier: MIT
#include "interrupts.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

namespace pmusim::tools {

namespace {

// A signal handler cannot be given a place of its own.
std::atomic<int> noted = 0;
std::atomic<bool> to_end = false;
static_assert(std::atomic<int>::is_always_lock_free);

void note(int signal) {
  if (signal == SIGPIPE || signal == SIGXFSZ) return;
  int none = 0;
  noted.compare_exchange_strong(none, signal);
  if (signal != SIGINT) to_end = true;
}

}  // namespace

Interrupts::Interrupts() {
  noted = 0;
  to_end = false;
  // A handler, unlike an ignored signal, does not outlive the exec of a program that is recorded.
  struct sigaction action {};
  action.sa_handler = note;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

Interrupts::~Interrupts() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
}

int Interrupts::caught() { return noted; }
const std::atomic<bool>& Interrupts::told_to_end() { return to_end; }

void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace pmusim::tools

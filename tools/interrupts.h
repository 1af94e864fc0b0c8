// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_INTERRUPTS_H
#define PMUSIM_TOOLS_INTERRUPTS_H

#include <signal.h>

#include <array>
#include <atomic>

namespace pmusim::tools {

/// While one lives, INT, TERM, HUP and QUIT are noted instead of ending the process, and a pipe that nobody
/// reads or a file beyond the size limit gives an error instead of a signal. Signals that were ignored stay
/// ignored. At most one at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// The first signal that came, 0 if none.
  static int caught();
  /// True once a signal came that asks to end. INT does not: a terminal sends it to the program too, which
  /// decides what it means.
  static const std::atomic<bool>& told_to_end();

 private:
  static constexpr std::array<int, 6> signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, signals.size()> before_{};
};

/// Ends the process by the signal, as if nobody had caught it.
[[noreturn]] void end_by(int signal);

}  // namespace pmusim::tools

#endif

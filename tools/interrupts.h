// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_INTERRUPTS_H
#define PMUSIM_TOOLS_INTERRUPTS_H

#include <signal.h>

#include <array>
#include <atomic>
#include <string>

#include "pmusim/base/types.h"

namespace pmusim::tools {

/// Whom Ctrl-C is meant for. The terminal sends it to both: a program that runs decides what it means.
enum class CtrlC : u8 { command, program };

/// While one lives, every signal that would end the process, and can be caught, asks it to end instead: what
/// it has by then is kept. A file beyond the size limit gives an error and no signal; so does a pipe that
/// nobody reads, which also asks to end. Signals that were ignored stay ignored. At most one at a time.
class Interrupts {
 public:
  explicit Interrupts(CtrlC meant_for);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// The first signal that asked to end, 0 if none; it stays when the object is gone.
  static int caught();
  /// Whether one did.
  static const std::atomic<bool>& end_requested();
  /// Ctrl-C came, for whomever.
  static bool ctrl_c_came();

 private:
  static constexpr std::size_t signal_count = 65;
  std::array<struct sigaction, signal_count> before_{};
};

/// "SIGINT"; "signal 30" of those that nobody sends by hand.
std::string signal_name(int signal);

/// Ends the process by the signal, as if nobody had caught it: a shell's exit status is 128 and its number.
[[noreturn]] void end_by(int signal);

}  // namespace pmusim::tools

#endif

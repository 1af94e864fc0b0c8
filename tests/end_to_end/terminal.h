// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_END_TO_END_TERMINAL_H
#define PMUSIM_TESTS_END_TO_END_TERMINAL_H

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/end_to_end/command.h"

namespace pmusim::test {

/// A terminal with a command in it.
class Terminal {
 public:
  Terminal(const std::string& socket, const std::string& command, const std::string& kind = "screen")
      : socket_(socket) {
    tmux({"-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "20",
          fmt::format("TERM={} {}; echo left with $?; sleep 60", kind, command)});
  }
  ~Terminal() { tmux({"kill-server"}); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void keys(std::vector<std::string> names) const {
    names.insert(names.begin(), "send-keys");
    tmux(std::move(names));
  }
  std::string screen() const { return tmux({"capture-pane", "-p"}); }
  /// The screen once the text is on it, or as it is after some seconds.
  std::string screen_with(const std::string& text,
                          std::chrono::seconds patience = std::chrono::seconds(10)) const {
    constexpr std::chrono::milliseconds pause(100);
    std::string shown;
    for (auto tries = patience / pause; tries > 0; --tries) {
      shown = screen();
      if (shown.find(text) != shown.npos) return shown;
      std::this_thread::sleep_for(pause);
    }
    return shown;
  }
  /// The screen once the text is on it, or as it is after some seconds. The key is pressed again each second:
  /// programs throw keys away that come with a signal.
  std::string screen_after(const std::string& key, const std::string& text) const {
    std::string shown;
    for (unsigned presses = 0; presses < 10; ++presses) {
      keys({key});
      shown = screen_with(text, std::chrono::seconds(1));
      if (shown.find(text) != shown.npos) return shown;
    }
    return shown;
  }

 private:
  std::string tmux(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"tmux", "-S", socket_});
    return run(arguments).out;
  }
  std::string socket_;
};

}  // namespace pmusim::test

#endif

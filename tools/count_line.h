// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_COUNT_LINE_H
#define PMUSIM_TOOLS_COUNT_LINE_H

#include <chrono>
#include <string>

#include "pmusim/base/types.h"

namespace pmusim::tools {

/// Whether standard error is a terminal that nobody else draws on: in line mode, with this process in the
/// foreground.
bool may_draw();

/// One line on the terminal with how many instructions a program that runs has executed, and how fast. The
/// cursor stays at its beginning, so that what the program prints takes its place; it is gone when the object
/// is.
class CountLine {
 public:
  explicit CountLine(std::string what) : what_(std::move(what)) {}
  ~CountLine() { clear(); }
  CountLine(const CountLine&) = delete;
  CountLine& operator=(const CountLine&) = delete;

  /// At once and then at most once a second, and nothing where may_draw() says no.
  void show(u64 instructions);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  Clock::time_point start_ = Clock::now(), shown_ = start_ - std::chrono::seconds(1);
  bool visible_ = false;
};

}  // namespace pmusim::tools

#endif

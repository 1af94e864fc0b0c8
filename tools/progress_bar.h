// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_PROGRESS_BAR_H
#define PMUSIM_TOOLS_PROGRESS_BAR_H

#include <chrono>
#include <string>

#include "pmusim/session/session.h"

namespace pmusim::tools {

/// One line on standard error with how far a replay is, its rate and the time left. Silent unless standard
/// error is a terminal; the line is gone when the object is.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(Progress progress);

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  bool terminal_;
  Clock::time_point start_, shown_;
};

}  // namespace pmusim::tools

#endif

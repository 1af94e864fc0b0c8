// SPDX-License-Identifier: MIT
#include "count_line.h"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "output.h"

namespace pmusim::tools {

bool may_draw() {
  termios mode{};
  return ::tcgetattr(STDERR_FILENO, &mode) == 0 && (mode.c_lflag & ICANON) != 0 &&
         ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
}

void CountLine::show(u64 instructions) {
  const auto now = Clock::now();
  if (now - shown_ < std::chrono::seconds(1) || !may_draw()) return;
  shown_ = now;
  const double seconds = std::max(1e-3, std::chrono::duration<double>(now - start_).count());
  say(fmt::format("\r{}: {:.2f} M instructions, {:.3f} M/s\033[K\r", what_,
                  static_cast<double>(instructions) / 1e6,
                  static_cast<double>(instructions) / seconds / 1e6));
  visible_ = true;
}

void CountLine::clear() {
  if (std::exchange(visible_, false) && may_draw()) say("\r\033[K");
}

}  // namespace pmusim::tools

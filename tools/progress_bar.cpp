// SPDX-License-Identifier: MIT
#include "progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace pmusim::tools {

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1), start_(Clock::now()), shown_(start_) {}

ProgressBar::~ProgressBar() {
  if (terminal_ && shown_ != start_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(Progress progress) {
  using namespace std::chrono_literals;
  const Clock::time_point now = Clock::now();
  if (!terminal_ || now - shown_ < 100ms) return;
  shown_ = now;
  constexpr int width = 30;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (progress.total == 0) {
    fmt::print(stderr, "\r{} {:.1f} M instructions, {:.1f} M instructions/s\033[K", what_,
               static_cast<double>(progress.done) / 1e6, static_cast<double>(progress.done) / seconds / 1e6);
    return;
  }
  const double fraction = static_cast<double>(progress.done) / static_cast<double>(progress.total);
  const double rate = static_cast<double>(progress.done) / seconds;
  const int full = std::min(width, static_cast<int>(fraction * width));
  const double left = fraction > 0 ? seconds / fraction - seconds : 0;
  fmt::print(stderr, "\r{} [{:=<{}}{: <{}}] {:3.0f} %  {:.1f} M instructions/s  {:.0f} s left\033[K", what_,
             "", full, "", width - full, 100 * fraction, rate / 1e6, left);
}

}  // namespace pmusim::tools

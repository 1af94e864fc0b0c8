// SPDX-License-Identifier: MIT
#include "why/reuse.h"

#include <algorithm>

namespace pmusim::why {

void Reuse::add(u32 mark, u32 amount) {
  for (; mark < sums_.size(); mark += mark & (~mark + 1)) sums_[mark] += amount;
}

u32 Reuse::marks_up_to(u32 mark) const {
  u32 sum = 0;
  for (; mark != 0; mark &= mark - 1) sum += sums_[mark];
  return sum;
}

void Reuse::access(u64 line) {
  if (line == previous_ && lines_of_stretch_ != 0) return distances_.add(0);
  previous_ = line;
  if (now_ + 1 == sums_.size()) squeeze();
  Last& last = last_[line];
  if (last.mark != 0) {
    distances_.add(last_.size() - marks_up_to(last.mark));
    add(last.mark, ~u32{0});
  }
  last.mark = ++now_;
  add(now_, 1);
  if (last.stretch != stretch_) ++lines_of_stretch_;
  last.stretch = stretch_;
}

void Reuse::end_stretch() {
  if (lines_of_stretch_ == 0) return;
  stretches_.add(lines_of_stretch_);
  lines_of_stretch_ = 0;
  ++stretch_;
}

void Reuse::squeeze() {
  std::vector<Last*> by_time;
  by_time.reserve(last_.size());
  for (auto& [line, last] : last_)
    if (last.mark != 0) by_time.push_back(&last);
  std::ranges::sort(by_time, {}, &Last::mark);
  sums_.assign(std::max<std::size_t>(std::size_t{1} << 12, 4 * by_time.size()), 0);
  now_ = 0;
  for (Last* const last : by_time) {
    last->mark = ++now_;
    add(now_, 1);
  }
}

}  // namespace pmusim::why

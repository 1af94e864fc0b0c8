#include "pmusim/annotate/block_ranges.h"

#include <algorithm>

namespace pmusim::annotate {

void BlockRanges::add(const Line& line) {
  if (line.first > line.last) return;
  begun_[line.first] += line.executions;
  End& end = ended_[line.last];
  end.taken += line.executions;
  end.predicted += line.predicted;
  is_laid_out_ = false;
}

void BlockRanges::lay_out() const {
  ranges_.clear();
  auto begin = begun_.begin();
  auto end = ended_.begin();
  u64 running = 0, at = 0;
  while (end != ended_.end()) {
    // Nothing runs: the next range starts where the next line does. Every end has its beginning before it.
    if (running == 0) at = begin->first;
    BlockRange range{.first = at, .last = end->first};
    if (begin != begun_.end() && begin->first == at) {
      range.entry = begin->second;
      range.is_target = true;
      running += begin++->second;
    }
    range.coverage = running;
    if (begin != begun_.end() && begin->first <= end->first) {
      range.last = begin->first - 1;
    }
    if (range.last == end->first) {
      range.taken = end->second.taken;
      range.predicted = end->second.predicted;
      range.is_branch = true;
      running -= end++->second.taken;
    }
    at = range.last + 1;
    ranges_.push_back(range);
  }
  is_laid_out_ = true;
}

const std::vector<BlockRange>& BlockRanges::ranges() const {
  if (!is_laid_out_) lay_out();
  return ranges_;
}

const BlockRange* BlockRanges::find(u64 address) const {
  const auto found = std::ranges::lower_bound(ranges(), address, {}, &BlockRange::last);
  return found != ranges_.end() && found->first <= address ? &*found : nullptr;
}

u64 BlockRanges::max_coverage(u64 start, u64 end) const {
  u64 most = 0;
  for (auto at = std::ranges::lower_bound(ranges(), start, {}, &BlockRange::last);
       at != ranges_.end() && at->first < end; ++at)
    most = std::max(most, at->coverage);
  return most;
}

u64 BlockRanges::coverage_of_next_branch(const BlockRange& range) const {
  const BlockRange* at = &range;
  while (!at->is_branch) ++at;  // the last range ends with a branch
  return at->coverage;
}

}  // namespace pmusim::annotate

// SPDX-License-Identifier: MIT
#include "annotate/block_ranges.h"

#include <algorithm>

namespace pmusim::annotate {

/// Settles when as many are new as there were before, so that a note costs the same in the long run.
void BlockRanges::Notes::add(const Ends& note) {
  constexpr std::size_t smallest_batch = 1024;
  ends.push_back(note);
  if (ends.size() > 2 * settled + smallest_batch) settle();
}

void BlockRanges::Notes::settle() {
  const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(settled);
  std::sort(middle, ends.end(), [](const Ends& a, const Ends& b) { return a.address < b.address; });
  std::ranges::inplace_merge(ends, middle, {}, &Ends::address);
  settled = 0;
  for (const Ends& note : ends) {
    if (settled != 0 && ends[settled - 1].address == note.address) {
      ends[settled - 1].lines += note.lines;
      ends[settled - 1].predicted += note.predicted;
      ends[settled - 1].mispredicted += note.mispredicted;
    } else {
      ends[settled++] = note;
    }
  }
  ends.resize(settled);
}

void BlockRanges::add(const Line& line) {
  if (line.first > line.last || line.executions == 0) return;
  begun_.add({line.first, line.executions});
  ended_.add({line.last, line.executions, line.predicted, line.mispredicted});
  is_laid_out_ = false;
}

void BlockRanges::lay_out() const {
  ranges_.clear();
  begun_.settle();
  ended_.settle();
  auto begin = begun_.ends.begin();
  auto end = ended_.ends.begin();
  u64 running = 0, at = 0;
  while (end != ended_.ends.end()) {
    // Nothing runs: the next range starts where the next line does. Every end has its beginning before it.
    if (running == 0) at = begin->address;
    BlockRange range{.first = at, .last = end->address};
    if (begin != begun_.ends.end() && begin->address == at) {
      range.entry = begin->lines;
      range.is_target = true;
      running += begin++->lines;
    }
    range.coverage = running;
    if (begin != begun_.ends.end() && begin->address <= end->address) range.last = begin->address - 1;
    if (range.last == end->address) {
      range.taken = end->lines;
      range.predicted = end->predicted;
      range.mispredicted = end->mispredicted;
      range.is_branch = true;
      running -= end++->lines;
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

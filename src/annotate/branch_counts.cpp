// SPDX-License-Identifier: MIT
#include "annotate/branch_counts.h"

#include <algorithm>

namespace pmusim::annotate {

namespace {

void add_cycles(BlockCycles& sum, u64 cycles) {
  sum.min = sum.executions == 0 ? cycles : std::min(sum.min, cycles);
  sum.max = std::max(sum.max, cycles);
  ++sum.executions;
  sum.sum += cycles;
}

void add_counters(LineCount& line, u64 word, BranchCounterLayout layout) {
  line.has_counters = true;
  for (unsigned i = 0; i < layout.counters; ++i) {
    const u64 count = field(word, (i + 1) * layout.bits - 1, i * layout.bits);
    line.counter_sum[i] += count;
    line.counters_saturated = line.counters_saturated || count == low_bits(layout.bits);
  }
}

}  // namespace

void BranchCounts::add_branches(std::span<const perf::BranchEntry> newest_first) {
  usable_.clear();
  for (u32 i = 0; i < newest_first.size(); ++i)
    if (newest_first[i].from != 0 && newest_first[i].to != 0) usable_.push_back(i);
  const auto entry_of = [&](std::size_t i) -> const perf::BranchEntry& { return newest_first[usable_[i]]; };
  const auto key = [&](std::size_t i) { return std::pair(entry_of(i).from, entry_of(i).to); };
  edges_.visit_each(usable_.size(), key, [&](std::size_t i, EdgeCount& edge) {
    const perf::BranchEntry& entry = entry_of(i);
    ++edge.taken;
    edge.predicted += entry.predicted;
    edge.mispredicted += entry.mispred;
    edge.timed += entry.cycles != 0;
    edge.cycles += entry.cycles;
  });
}

void BranchCounts::add_lines(std::span<const perf::BranchEntry> newest_first, std::span<const u64> counters,
                             BranchCounterLayout layout) {
  usable_.clear();
  const auto key_of = [&](std::size_t i) { return std::pair(newest_first[i + 1].to, newest_first[i].from); };
  for (u32 i = 0; i + 1 < newest_first.size(); ++i) {
    const auto [first, last] = key_of(i);
    if (first != 0 && first <= last) usable_.push_back(i);
  }
  if (!newest_first.empty()) broken_lines_ += newest_first.size() - 1 - usable_.size();
  const auto key = [&](std::size_t i) { return key_of(usable_[i]); };
  lines_.visit_each(usable_.size(), key, [&](std::size_t i, LineCount& line) {
    const u32 at = usable_[i];
    const perf::BranchEntry& end = newest_first[at];
    ++line.executions;
    line.predicted += end.predicted;
    line.mispredicted += end.mispred;
    if (end.cycles != 0) add_cycles(line.cycles, end.cycles);
    if (at < counters.size()) add_counters(line, counters[at], layout);
  });
}

}  // namespace pmusim::annotate

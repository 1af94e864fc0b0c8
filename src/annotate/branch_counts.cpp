#include "pmusim/annotate/branch_counts.h"

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
  ++line.counted;
  for (unsigned i = 0; i < layout.counters; ++i) {
    const u64 count = field(word, (i + 1) * layout.bits - 1, i * layout.bits);
    line.counter_sum[i] += count;
    line.counters_saturated = line.counters_saturated || count == low_bits(layout.bits);
  }
}

}  // namespace

void BranchCounts::add_branches(std::span<const perf::BranchEntry> newest_first) {
  for (const perf::BranchEntry& entry : newest_first) {
    if (entry.from == 0 || entry.to == 0) continue;
    EdgeCount& edge = edges_(entry.from, entry.to);
    ++edge.taken;
    edge.predicted += entry.predicted;
    edge.mispredicted += entry.mispred;
    edge.timed += entry.cycles != 0;
    edge.cycles += entry.cycles;
  }
}

void BranchCounts::add_lines(std::span<const perf::BranchEntry> newest_first, std::span<const u64> counters,
                             BranchCounterLayout layout) {
  for (std::size_t i = 0; i + 1 < newest_first.size(); ++i) {
    const perf::BranchEntry &end = newest_first[i], &start = newest_first[i + 1];
    if (start.to == 0 || start.to > end.from) {
      ++broken_lines_;
      continue;
    }
    LineCount& line = lines_(start.to, end.from);
    ++line_executions_;
    ++line.executions;
    line.predicted += end.predicted;
    if (end.cycles != 0) add_cycles(line.cycles, end.cycles);
    if (i < counters.size()) add_counters(line, counters[i], layout);
  }
}

}  // namespace pmusim::annotate

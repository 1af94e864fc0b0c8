// SPDX-License-Identifier: MIT
#include "code_counts.h"

#include <algorithm>

namespace pmusim::annotate {

namespace {

void add(EdgeCount& sum, const EdgeCount& more) {
  sum.taken += more.taken;
  sum.predicted += more.predicted;
  sum.mispredicted += more.mispredicted;
  sum.timed += more.timed;
  sum.cycles += more.cycles;
}
void add(CodeEdge& sum, const CodeEdge& more) { add(sum.count, more.count); }

void add(BlockCycles& sum, const BlockCycles& more) {
  if (more.executions == 0) return;
  sum.min = sum.executions == 0 ? more.min : std::min(sum.min, more.min);
  sum.max = std::max(sum.max, more.max);
  sum.executions += more.executions;
  sum.sum += more.sum;
}

void add(LineCount& sum, const LineCount& more) {
  sum.executions += more.executions;
  sum.predicted += more.predicted;
  sum.mispredicted += more.mispredicted;
  add(sum.cycles, more.cycles);
  sum.has_counters = sum.has_counters || more.has_counters;
  for (unsigned i = 0; i < std::size(sum.counter_sum); ++i) sum.counter_sum[i] += more.counter_sum[i];
  sum.counters_saturated = sum.counters_saturated || more.counters_saturated;
}

/// Sorts by key and adds up what has the same.
template <class Item>
void merge(std::vector<Item>& items) {
  std::ranges::sort(items, {}, &Item::key);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (items[kept].key() == items[i].key())
      add(items[kept], items[i]);
    else if (++kept != i)
      items[kept] = items[i];
  }
  if (!items.empty()) items.erase(items.begin() + static_cast<std::ptrdiff_t>(kept) + 1, items.end());
}

class Summer {
 public:
  Summer(std::size_t events, Resolver& resolver) : events_(events), resolver_(resolver) {}

  void add_space(const CodeSpace& space, const SpaceCounts& counts) {
    for (const HitCount& hit : counts.hits.values()) add_hit(resolver_.locate(space, hit.address), hit);
    for (const EdgeCount& edge : counts.branches.edges())
      result_.edges.push_back(
          {resolver_.locate_branch(space, edge.from), resolver_.locate_branch(space, edge.to), edge});
    for (const LineCount& line : counts.branches.lines())
      add_line(resolver_.locate_branch(space, line.first), resolver_.locate_branch(space, line.last), line);
    result_.broken_lines += counts.branches.broken_lines();
  }
  CodeCounts result() {
    result_.modules.resize(resolver_.modules().size());
    for (ModuleCounts& m : result_.modules) merge(m.lines);
    merge(result_.edges);
    for (CodeEdge& edge : result_.edges) {
      edge.count.from = edge.from.address;
      edge.count.to = edge.to.address;
    }
    return std::move(result_);
  }

 private:
  ModuleCounts& module(u32 number) {
    if (result_.modules.size() <= number) result_.modules.resize(number + 1);
    return result_.modules[number];
  }

  void add_hit(const Location& at, const HitCount& hit) {
    Weights& weights = module(at.module).hits[at.address];
    weights.resize(events_);
    weights[hit.event].samples += hit.samples;
    weights[hit.event].period += hit.period;
  }

  void add_line(const Location& first, const Location& last, const LineCount& line) {
    if (first.module != last.module || first.address > last.address) {
      result_.broken_lines += line.executions;
      return;
    }
    result_.lines += line.executions;
    ModuleCounts& m = module(first.module);
    m.ranges.add({first.address, last.address, line.executions, line.predicted, line.mispredicted});
    m.lines.push_back(line);
    m.lines.back().first = first.address;
    m.lines.back().last = last.address;
  }

  std::size_t events_;
  Resolver& resolver_;
  CodeCounts result_;
};

}  // namespace

CodeCounts sum_up(const std::map<CodeSpace, SpaceCounts>& spaces, std::size_t events, Resolver& resolver) {
  Summer summer(events, resolver);
  for (const auto& [space, counts] : spaces) summer.add_space(space, counts);
  return summer.result();
}

}  // namespace pmusim::annotate

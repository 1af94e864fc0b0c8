#include "code_counts.h"

#include <algorithm>

namespace pmusim::annotate {

void add(Weights& sum, const Weights& more) {
  if (sum.size() < more.size()) sum.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) {
    sum[i].samples += more[i].samples;
    sum[i].period += more[i].period;
  }
}

namespace {

class Summer {
 public:
  Summer(std::size_t events, Resolver& resolver) : events_(events), resolver_(resolver) {}

  void add(symbols::AddressSpaces::Id space, const SpaceCounts& counts) {
    for (const HitCount& hit : counts.hits.values()) add_hit(resolver_.locate(space, hit.address), hit);
    for (const EdgeCount& edge : counts.branches.edges())
      add_edge(resolver_.locate(space, edge.from), resolver_.locate(space, edge.to), edge);
    for (const LineCount& line : counts.branches.lines())
      add_line(resolver_.locate(space, line.first), resolver_.locate(space, line.last), line);
    result_.broken_lines += counts.branches.broken_lines();
  }
  CodeCounts result() {
    result_.modules.resize(resolver_.modules().size());
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

  void add_edge(const Location& from, const Location& to, const EdgeCount& edge) {
    EdgeCount& sum = result_.edges[{from, to}];
    sum.from = from.address;
    sum.to = to.address;
    sum.taken += edge.taken;
    sum.predicted += edge.predicted;
    sum.mispredicted += edge.mispredicted;
    sum.timed += edge.timed;
    sum.cycles += edge.cycles;
  }

  void add_line(const Location& first, const Location& last, const LineCount& line) {
    if (first.module != last.module || first.address > last.address) {
      result_.broken_lines += line.executions;
      return;
    }
    result_.lines += line.executions;
    ModuleCounts& m = module(first.module);
    m.ranges.add({first.address, last.address, line.executions, line.predicted});
    LineCount& sum = m.lines[{first.address, last.address}];
    sum.first = first.address;
    sum.last = last.address;
    sum.executions += line.executions;
    sum.predicted += line.predicted;
    add_timing(sum, line);
  }

  static void add_timing(LineCount& sum, const LineCount& line) {
    if (line.cycles.executions != 0) {
      const bool is_first = sum.cycles.executions == 0;
      sum.cycles.min = is_first ? line.cycles.min : std::min(sum.cycles.min, line.cycles.min);
      sum.cycles.max = std::max(sum.cycles.max, line.cycles.max);
      sum.cycles.executions += line.cycles.executions;
      sum.cycles.sum += line.cycles.sum;
    }
    sum.counted += line.counted;
    for (unsigned i = 0; i < std::size(sum.counter_sum); ++i) sum.counter_sum[i] += line.counter_sum[i];
    sum.counters_saturated = sum.counters_saturated || line.counters_saturated;
  }

  std::size_t events_;
  Resolver& resolver_;
  CodeCounts result_;
};

}  // namespace

CodeCounts sum_up(const std::map<symbols::AddressSpaces::Id, SpaceCounts>& spaces, std::size_t events,
                  Resolver& resolver) {
  Summer summer(events, resolver);
  for (const auto& [space, counts] : spaces) summer.add(space, counts);
  return summer.result();
}

}  // namespace pmusim::annotate

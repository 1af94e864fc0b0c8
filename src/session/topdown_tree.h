// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_TOPDOWN_TREE_H
#define PMUSIM_SRC_SESSION_TOPDOWN_TREE_H

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "events/summed_event.h"
#include "pmusim/events/parser.h"
#include "pmusim/trace/trace.h"
#include "session/metrics.h"

namespace pmusim {

inline constexpr unsigned deepest_topdown_level = 6;

/// Metrics of levels 1 to `level` of the top-down tree, which `--topdown` stands for. Errors: the model does
/// not count so deep.
Result<std::vector<const Metric*>, Error> topdown_metrics(const CpuModel& model, unsigned level);

/// The top-down tree of a model with the events behind its nodes, for counts of a whole program and of parts
/// of it.
class TopdownTree {
 public:
  struct Event {
    events::ParsedEvent parsed;
    events::SummedEvent sum;              ///< how it is counted, unless `not_counted` says why it is not
    bool is_time = false;                 ///< task-clock, which follows from cycles
    std::optional<unsigned> metric = {};  ///< of PERF_METRICS: the byte
    std::string not_counted = {};
  };
  struct Node {
    const Metric* metric = nullptr;
    std::vector<u32> events = {};  ///< behind it: numbers among events()
    std::string not_counted = {};  ///< why the model, or a replay of the trace, does not count it
  };
  struct Value {
    std::optional<double> percent;   ///< nothing where it was not counted or divides by 0
    std::optional<bool> stands_out;  ///< above its threshold; nothing where it has none
  };

  /// Down to `level`, for a trace that knows so much. Errors as topdown_metrics().
  static Result<TopdownTree, Error> create(const CpuModel& model, unsigned level,
                                           const trace::Contents& contents);

  /// Each before its children, and these before its siblings.
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Event> events() const { return events_; }
  unsigned level() const { return level_; }

  /// Counts of a part of a program as `pmusim stat` has them. `occurrences`: event by event; of those that
  /// are time, 0.
  std::vector<EventTotal> totals_of_part(std::span<const u64> occurrences, u64 cycles) const;
  /// The same of a whole one: what is read from PERF_METRICS comes in 255ths of the slots.
  std::vector<EventTotal> totals_of_whole(std::span<const u64> occurrences, u64 cycles) const;
  /// Node by node.
  std::vector<Value> values(const std::vector<EventTotal>& totals) const;

 private:
  TopdownTree(const CpuModel& model, unsigned level) : model_(model), level_(level) {}
  void add_events(const std::vector<const Metric*>& metrics, const trace::Contents& contents);
  void add_nodes(const std::vector<const Metric*>& metrics);
  u64 ns_of(u64 cycles) const;

  CpuModel model_;
  unsigned level_;
  std::vector<Node> nodes_;
  std::vector<Event> events_;
};

}  // namespace pmusim

#endif

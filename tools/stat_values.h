// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_STAT_VALUES_H
#define PMUSIM_TOOLS_STAT_VALUES_H

#include "stat_command.h"

namespace pmusim::tools {

/// One line of what stat prints, free of the format.
struct StatRow {
  std::string owner;  ///< the thread, with --per-thread
  struct Place {
    std::string kind, name;  ///< "core", "S0-D0-C1"; of a CPU "cpu", "1"
    u32 cpus = 1;            ///< that are added up
  };
  std::optional<Place> place;  ///< with -A, --per-core, --per-die, --per-socket
  std::string event, cgroup;
  bool supported = true, counted = true;
  double value = 0;
  bool in_ms = false;                       ///< clocks, as perf shows them
  std::optional<double> deviation_percent;  ///< of the mean, with -r
  /// Half of the interval around what core `sampled` estimates.
  std::optional<double> interval_percent;
  u64 running_ns = 0;
  double running_percent = 100;
  struct Figure {
    double value;
    const Metric* metric;
    std::optional<bool> stands_out{};  ///< above its threshold; nothing: it has none, or nobody asked
  };
  std::vector<Figure> figures;  ///< metrics whose first event this is
};

/// Rows for one list of totals.
std::vector<StatRow> rows_of(const std::vector<EventTotal>& totals, const StatResult& result);
/// The same, or place by place where CPUs are not added up.
std::vector<StatRow> rows_of(const std::vector<EventTotal>& totals, const std::vector<CpuTotals>& cpus,
                             const StatResult& result);
/// Rows for the end of the command: means over runs, or thread by thread.
std::vector<StatRow> final_rows(const StatResult& result);

/// "1,234", "12.50", "<not counted>" or "<not supported>".
std::string value_text(const StatRow& row, bool thousands);

}  // namespace pmusim::tools

#endif

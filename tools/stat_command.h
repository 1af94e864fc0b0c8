// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_STAT_COMMAND_H
#define PMUSIM_TOOLS_STAT_COMMAND_H

#include <optional>
#include <string>
#include <vector>

#include "command_error.h"
#include "pmusim/session/stat.h"
#include "session/metrics.h"

namespace pmusim::tools {

/// What counts of a machine's CPUs are added up by.
enum class Aggregation : u8 { all, cpu, core, die, socket };

enum class StatFormat : u8 { text, csv, json_lines, json };

/// Options of `pmusim stat` as a person gave them.
struct StatCommand {
  std::vector<std::string> events;
  std::string metrics, cpus, processes, threads, separator, output, record;
  std::optional<std::string> delay, interval, timeout, interval_count;
  unsigned detail = 0, repeat = 1, topdown_level = 1;
  std::optional<int> descriptor;
  bool json = false, json_lines = false, append = false, quiet = false, verbose = false;
  bool topdown = false, null = false, group = false, per_thread = false, summary = false, multiplex = false;
  bool no_threshold = false;
  bool all_cpus = false, hybrid_merge = false, per_cpu = false, per_core = false, per_die = false,
       per_socket = false;

  Aggregation aggregation() const {
    if (per_cpu) return Aggregation::cpu;
    if (per_core) return Aggregation::core;
    if (per_die) return Aggregation::die;
    return per_socket ? Aggregation::socket : Aggregation::all;
  }

  StatFormat format() const {
    if (json) return StatFormat::json;
    if (json_lines) return StatFormat::json_lines;
    return separator.empty() ? StatFormat::text : StatFormat::csv;
  }
};

/// What the library is asked for, without callbacks. Ends the command with a sentence that names the option
/// at fault.
/// `machine`: null for one CPU.
StatOptions stat_options(const StatCommand& command, const CpuModel& model, CoreLevel core,
                         const Topology* machine = nullptr);
/// What -M and --topdown ask for. Ends the command as stat_options() does.
std::vector<const Metric*> wanted_metrics(const StatCommand& command, const CpuModel& model);
u64 wanted_intervals(const StatCommand& command);
/// Whether only some threads' counts are shown.
bool chooses_tasks(const StatCommand& command);

/// Counts of one or more runs, for printing.
struct StatResult {
  const StatCommand* command = nullptr;
  std::string title;  ///< of the trace
  const CpuModel* model = nullptr;
  const Topology* machine = nullptr;  ///< null: one CPU
  perf::Kernel kernel = perf::default_kernel;
  StartState start = StartState::cold;
  std::vector<const Metric*> metrics;
  std::vector<StatReport> runs;
  int cut_by = 0;  ///< the signal that ended the last run before its end: its counts are partial
};

/// Everything that is printed at the end.
std::string stat_text(const StatResult& result);
/// Says that they are not those of the whole program; nothing where they are.
std::string partial_text(const StatResult& result);
/// The counts of one interval. `first`: with the headline.
std::string interval_text(const StatResult& result, const IntervalTotals& totals, bool first);

}  // namespace pmusim::tools

#endif

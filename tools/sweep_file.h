// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SWEEP_FILE_H
#define PMUSIM_TOOLS_SWEEP_FILE_H

#include <string>
#include <vector>

#include "command_error.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/setup.h"
#include "session/metrics.h"
#include "sweep_events.h"

namespace pmusim::tools {

/// What is wanted of a trace on a model: one set of events, or the metrics. A pure function of what stands
/// here.
struct SweepJob {
  std::string trace_name, trace_path;
  std::string model_name;        ///< "icelake", or "icelake+large" with a change of that name
  std::string core_set;          ///< of the change
  std::string set_name, events;  ///< as the file has them; of metrics their names
  u64 trace_bytes = 0;
  u64 instructions = 0;  ///< of the trace; 0 where it cannot be read
  CpuModel model;
  CoreChoice core;
  StartState start = StartState::cold;
  EventList list;
  std::vector<const Metric*> metrics;  ///< of the set that they are

  /// "gzip.icelake.branches": of its result.
  std::string name() const { return replay_name() + '.' + set_name; }
  std::string replay_name() const { return trace_name + '.' + model_name; }
};

/// The name of the set that metrics are.
constexpr std::string_view metrics_set = "metrics";

/// Every trace on every model with every set of events, from a JSON file (docs/sweep.md); traces are relative
/// to the file's folder. All jobs are checked here, in their order. Ends the command with a sentence that
/// says what in the file is wrong.
std::vector<SweepJob> read_sweep(const std::string& path);

/// One of `count` parts of a sweep that share nothing but the folder of results.
struct Shard {
  u64 index = 1, count = 1;  ///< from 1
};

/// "2/8". Ends the command with a sentence on anything else.
Shard parse_shard(const std::string& text);

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_RECORD_COMMAND_H
#define PMUSIM_TOOLS_RECORD_COMMAND_H

#include <optional>
#include <string>
#include <vector>

#include "command_error.h"
#include "pmusim/session/record.h"
#include "session/default_period.h"

namespace pmusim::tools {

/// Options of `pmusim record` as a person gave them.
struct RecordCommand {
  std::vector<std::string> events;
  std::optional<std::string> period, frequency, ring, max_bytes;
  std::optional<std::string> interrupt_registers, user_registers, delay;
  std::string cpus, processes, threads;
  bool any_branch = false, call_graph = false, no_build_ids = false, throttling = false, quiet = false;
  bool all_cpus = false;
  bool group = false, dry_run = false, verbose = false;
  std::string branch_filter, call_graph_mode = "trace";
  int compression_level = 0;  ///< 0: none
  u32 max_sample_rate = perf::Limits{}.max_sample_rate;
  RecordOptions options;

  bool lists_registers() const { return interrupt_registers == "?" || user_registers == "?"; }
  bool chooses_periods() const { return !period && !frequency; }
};

/// What the library is asked for. Ends the command with a sentence that names the option at fault.
/// `machine`: null for one CPU.
RecordOptions record_options(const RecordCommand& command, const CpuModel& model,
                             const Topology* machine = nullptr);
SessionOptions session_options(const RecordCommand& command, const CpuModel& model);

/// What the lists after --event name, in one group if asked for.
std::vector<events::EventGroup> event_groups(const std::vector<std::string>& lists, bool in_one_group,
                                             const CpuModel& model, const Topology* machine = nullptr,
                                             const std::optional<std::vector<u32>>& cpus = {});

/// Of overflows that came while an interrupt was on its way.
std::string merged_overflows_text(u64 overflows);

/// What is said when the file is there. `asked`: the events with the periods that they were given with.
std::string summary_text(const RecordSummary& summary, const RecordCommand& command,
                         const RecordOptions& options, const std::vector<events::EventGroup>& asked);
std::string chosen_text(const ChosenPeriods& periods);
std::string events_text(const std::vector<events::EventGroup>& groups);

}  // namespace pmusim::tools

#endif

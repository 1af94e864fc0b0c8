// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_MACHINE_OPTION_H
#define PMUSIM_TOOLS_MACHINE_OPTION_H

#include <string>
#include <string_view>
#include <vector>

#include "model_option.h"
#include "pmusim/events/parser.h"
#include "pmusim/session/session.h"

namespace pmusim::tools {

/// --machine M and --schedule S, as the commands that replay on many CPUs take them.
class MachineOption {
 public:
  static constexpr const char* no_hardware_log = "--hw-log: is of one CPU; leave --machine out";

  void add_to(CLI::App& command);
  bool is_given() const { return !machine_.empty(); }
  /// Gives the session the machine, if one is asked for, with its model and the policies of `model`. Ends
  /// the command on a machine that cannot be.
  void apply_to(SessionOptions& options, const ModelOption& model) const;

 private:
  std::string machine_;
  Schedule schedule_ = Schedule::spread;
};

/// An event list for a machine, null for one CPU. On a hybrid machine an event is counted by each kind of
/// core that has it and is among `cpus`, the E cores' first, under perf's names ("cpu_atom/cycles/"), unless
/// it names its PMU. Ends the command with the sentence of what is wrong.
std::vector<events::EventGroup> parse_events_for(const Topology* machine, const CpuModel& model,
                                                 const std::string& list,
                                                 const std::optional<std::vector<u32>>& cpus = {});

/// The CPUs that -a and -C choose of a machine; nothing: neither is given. Ends the command on CPUs that are
/// not there.
std::optional<std::vector<u32>> chosen_cpus(const Topology& machine, bool all, const std::string& list);

}  // namespace pmusim::tools

#endif

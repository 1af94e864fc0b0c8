// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_CGROUP_OPTION_H
#define PMUSIM_TOOLS_CGROUP_OPTION_H

#include <string>
#include <vector>

#include "command.h"
#include "pmusim/events/parser.h"
#include "pmusim/session/session.h"

namespace pmusim::tools {

/// -G and --cgroup-tasks, as stat and record take them.
class CgroupOption {
 public:
  void add_to(CLI::App& command);
  /// --for-each-cgroup, of stat.
  void add_for_each_to(CLI::App& command);
  /// Makes the cgroups and says who is in them. Ends the command on what is no NAME=TASKS.
  void apply_to(SessionOptions& options) const;
  /// Gives events their cgroups: one name to all, of several the first to the first event. Ends the command
  /// on a cgroup without tasks, more names than events, a group of several, and where the events are not of
  /// CPUs.
  void apply_to(std::vector<events::EventGroup>& groups, bool of_cpus) const;

 private:
  void check(const std::string& name) const;

  std::string names_, each_;
  std::vector<std::string> tasks_;
};

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_EVENT_TASKS_H
#define PMUSIM_SRC_SESSION_EVENT_TASKS_H

#include <span>
#include <vector>

#include "pmusim/events/parser.h"
#include "pmusim/session/session.h"
#include "session/monitor.h"

/// For which tasks, and on which CPUs, the events of a group are opened.
namespace pmusim {

bool names_cgroups(std::span<const events::EventGroup> groups);

/// Errors: events of cgroups for a program on a machine, where it is not CPUs that are counted.
Result<Done, Error> check_cgroups(std::span<const events::EventGroup> groups, const Session& session,
                                  bool of_cpus);

/// On those of these CPUs that have the group's kind of core: tasks of its cgroup, or else `pid`. A session
/// without a machine has one CPU.
std::vector<CountedTasks> tasks_on(std::span<const u32> cpus, const events::EventGroup& group, i32 pid,
                                   const Session& session, Monitor& monitor);

}  // namespace pmusim

#endif

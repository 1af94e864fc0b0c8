// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_PTRACE_H
#define PMUSIM_SRC_LIVE_PTRACE_H

#include <sys/user.h>

#include <optional>

#include "pmusim/base/types.h"

/// ptrace(2) for tasks that are not started by their tracer, beside what trace/tracee.h has. A task that is
/// killed meanwhile makes each of them fail; its exit is then to be waited for.
namespace pmusim::live {

/// What becomes of a task whose tracer is killed: a program of the run cannot go on, for nobody answers the
/// calls that its filter asks about.
enum class WithoutTracer : u8 { killed, goes_on };
/// Attaches without stopping the task; it and what it starts will tell of forks and execs. 0 or an errno.
int seize(u32 tid, WithoutTracer fate);
void interrupt(u32 tid);
/// Leaves a task in the group stop that it is in.
void listen(u32 tid);

std::optional<user_regs_struct> all_registers(u32 tid);
void set_all_registers(u32 tid, const user_regs_struct& registers);

}  // namespace pmusim::live

#endif

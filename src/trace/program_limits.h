// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_TRACE_PROGRAM_LIMITS_H
#define PMUSIM_SRC_TRACE_PROGRAM_LIMITS_H

#include <sys/resource.h>

namespace pmusim::trace {

/// Soft and hard limits that a recorded program is to have, whatever the recorder's are by then.
struct ProgramLimits {
  rlimit file_size{}, cpu_time{};
};

/// The limits of file size and CPU time are for the program, not for the trace and the work of recording:
/// raises those of this process as far as it may, and returns what they were.
ProgramLimits take_limits_off();

/// Gives a process its limits back. Safe between fork and exec.
void set_limits(const ProgramLimits& limits);

}  // namespace pmusim::trace

#endif

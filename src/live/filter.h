// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_FILTER_H
#define PMUSIM_SRC_LIVE_FILTER_H

#include "live/file_descriptor.h"
#include "pmusim/base/types.h"

/// The seccomp filter of the watched process tree: which of its system calls the supervisor is asked about.
namespace pmusim::live {

/// Numbers that descriptors of perf events get, from `low` on. The filter looks at nothing but numbers, so
/// they are kept apart from those that programs get by themselves, which count up from 0: a read of a file
/// costs nothing. Whatever else a program puts there is asked about and let through.
struct NumberRange {
  u32 low = 0, high = 0;  ///< `high` is the first behind
};

/// Near the limit of open files, and where it allows below 1024: select() takes no more.
NumberRange event_numbers();

/// Who answers sched_setaffinity and sched_getaffinity: they are asked about where the emulated CPUs are
/// many.
enum class Affinity : u8 { of_kernel, emulated };

/// Puts the calling process, and all that it starts from now on, under the filter. Returns the descriptor on
/// which the supervisor hears of calls; none, with errno, where the kernel or an outer filter forbids it.
FileDescriptor install_filter(NumberRange numbers, Affinity affinity);

}  // namespace pmusim::live

#endif

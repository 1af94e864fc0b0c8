// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_LIVE_MAPPER_H
#define PMUSIM_SRC_LIVE_MAPPER_H

#include "pmusim/perf/core.h"

namespace pmusim::live {

/// A task with its rights to lock memory. CAP_IPC_LOCK is that of the user namespace that this process is in:
/// whoever becomes root of one of its own has none on the machine.
perf::Mapper mapper_of(u32 tid);

}  // namespace pmusim::live

#endif

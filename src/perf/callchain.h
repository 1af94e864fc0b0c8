// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_PERF_CALLCHAIN_H
#define PMUSIM_SRC_PERF_CALLCHAIN_H

#include <vector>

#include "pmusim/perf/abi.h"
#include "pmusim/perf/core.h"

namespace pmusim::perf {

namespace callchain_context {
inline constexpr u64 KERNEL = static_cast<u64>(-128), USER = static_cast<u64>(-512);
}

/// The call chain of an interrupted program (get_perf_callchain): the interrupted address, then return
/// addresses along the frame pointers, as far as the target knows its stack. From the kernel it goes on where
/// the task entered it. `chain` is replaced.
///
/// A target that keeps account of calls is asked for them instead: for those of the code that was sampled,
/// which is not the interrupted one where `data` is a record of hardware.
void unwind(std::vector<u64>& chain, const Attr& attr, const SampleData& data, const InterruptFrame& frame,
            const Target& target);

}  // namespace pmusim::perf

#endif

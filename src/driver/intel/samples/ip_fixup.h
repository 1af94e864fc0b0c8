// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SAMPLES_IP_FIXUP_H
#define PMUSIM_SRC_DRIVER_INTEL_SAMPLES_IP_FIXUP_H

#include <functional>
#include <optional>
#include <vector>

#include "pmusim/base/types.h"
#include "pmusim/perf/abi.h"

namespace pmusim::driver {

using CodeReader = std::function<std::vector<std::byte>(u64 address, std::size_t bytes)>;

/// The instruction before `next_ip`, found by decoding the code from the target of the newest branch on: what
/// formats without EventingIP need for an exact IP. None where that cannot be known: no code, a basic block
/// of more than 4096 bytes, the branch crosses privilege, or decoding steps over `next_ip`.
std::optional<u64> previous_instruction(u64 next_ip, const perf::BranchEntry& newest, const CodeReader& read);

}  // namespace pmusim::driver

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_CORE_COSTS_H
#define PMUSIM_SRC_CORE_CORE_COSTS_H

#include <memory>

#include "pmusim/cpu/core_parameters.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// What instructions cost on a core that renames some moves away.
std::shared_ptr<const InstructionCosts> costs_of(const CoreParameters& core);

/// Of a move that is not renamed away, which takes a cycle there.
PortMask move_ports(const CoreParameters& core, InstructionForm form);

/// A model's core with the prefetchers that its policies leave on.
CoreParameters core_of(const CpuModel& model);

}  // namespace pmusim

#endif

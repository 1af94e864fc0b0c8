// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_ARCHITECTURAL_EVENTS_H
#define PMUSIM_SRC_CPU_ARCHITECTURAL_EVENTS_H

#include <optional>

#include "pmusim/cpu/model.h"

namespace pmusim {

/// The architectural event (SDM vol. 3, pre-defined events) with this encoding, if the model enumerates it.
std::optional<EventDefinition> find_architectural_event(const CpuModel& model, u16 event, u16 umask);

/// What fixed counter `fixed_counter` counts on every part that has it.
std::optional<EventDefinition> find_architectural_fixed_event(const CpuModel& model, unsigned fixed_counter);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MACHINE_PMU_UNCOUNTED_H
#define PMUSIM_MACHINE_PMU_UNCOUNTED_H

#include <optional>
#include <string>

#include "pmusim/cpu/model.h"
#include "pmusim/msr/register.h"

namespace pmusim::machine {

/// Why this machine's counter of an event is no count of it, in a sentence; nothing if it is one. The
/// machine's core is flat (CoreLevel), and tells uops beside.
std::optional<std::string> why_not_counted(const CpuModel& model, const CountedEvent& counted);

}  // namespace pmusim::machine

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_SESSION_CPU_DESCRIPTION_H
#define PMUSIM_SRC_SESSION_CPU_DESCRIPTION_H

#include <string>
#include <string_view>

#include "pmusim/cpu/setup.h"

namespace pmusim {

/// A CPU with what was chosen of its core (CORE_SET) and of its start: "icelake with l2_bytes=2MiB, warm".
std::string with_choices(std::string_view cpu, std::string_view core_set, StartState start);

/// What perf.data and /proc/cpuinfo call an emulated CPU: "pmusim Ice Lake", with what was chosen.
std::string cpu_description(const CpuModel& model, StartState start);

}  // namespace pmusim

#endif

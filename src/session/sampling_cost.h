// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SESSION_SAMPLING_COST_H
#define PMUSIM_SESSION_SAMPLING_COST_H

#include "pmusim/cpu/model.h"

namespace pmusim {

/// Whether handling a PMI takes the program's time, by policy.
constexpr bool handling_takes_time(const Policies& p) {
  return p.pmi_cost_cycles != 0 || p.pmi_cost_instructions != 0;
}

/// Whether sampling as a whole does: the core's cycles are not the PMU's then.
constexpr bool sampling_takes_time(const Policies& p) {
  return handling_takes_time(p) || p.pebs_assist_cycles != 0 || p.pebs_assist_line_cycles != 0;
}

}  // namespace pmusim

#endif

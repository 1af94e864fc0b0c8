// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_FRONT_END_H
#define PMUSIM_CPU_FRONT_END_H

#include "pmusim/cpu/model.h"

namespace pmusim::front_end {

/// Event code of FRONTEND_RETIRED, which counts the instructions that MSR_PEBS_FRONTEND selects.
inline constexpr u64 retired_event = 0xC6;
constexpr bool is_filtered(const CpuModel& model, u64 event) {
  return model.pebs.frontend && event == retired_event;
}

/// MSR_PEBS_FRONTEND[4:0] = 06: instructions before which fetch delivered nothing for a number of cycles.
constexpr bool selects_latency(u64 filter) { return field(filter, 4, 0) == 0x06; }
constexpr u64 latency_cycles(u64 filter) { return field(filter, 19, 8); }

/// How many slots of a cycle must be empty. Below this, a fetch that delivers little would count too.
constexpr u64 bubbles(u64 filter) { return field(filter, 22, 20); }
inline constexpr u64 whole_cycle_bubbles = 4;

/// The latency in slots that fetch left empty.
constexpr u64 latency_slots(u64 filter, unsigned issue_width) {
  return selects_latency(filter) ? latency_cycles(filter) * issue_width : 0;
}

}  // namespace pmusim::front_end

#endif

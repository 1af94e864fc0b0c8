// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_COSTS_COSTS_H
#define PMUSIM_SRC_CPU_COSTS_COSTS_H

#include <vector>

#include "cpu/costs/port_roles.h"
#include "pmusim/cpu/core_parameters.h"

/// Instruction costs of cores, made of what was measured on silicon and of which port does what.
namespace pmusim::costs {

/// A measured form: cycles of a chain of it, and cycles per instruction of independent ones. 0: not measured.
struct MeasuredCost {
  InstructionForm form{};
  double latency = 0, throughput = 0;
  u8 uops = 0;         ///< slots; 0: as on all cores
  u8 port_uops = 0;    ///< what its ports do; 0: what latency and throughput say
  u8 early = 0;        ///< cycles of the latency that are not those of the destination's old value
  PortMask ports = 0;  ///< 0: those of the kind of work that it does
};

/// Divisions of 128 by 64 bits whose quotient is small, as nearly all are. 0: they cost what all do.
struct WideDivision {
  double small_quotient_cycles = 0;   ///< between independent ones
  double small_quotient_latency = 0;  ///< of a chain; 0: as much shorter as the independent ones
};

/// What a core does: cycles of the forms that were measured on it, and its ports.
struct MeasuredCore {
  std::vector<MeasuredCost> forms;
  PortRoles ports;
  WideDivision division;
};

/// Forms that were not measured have the cost of their nearest relative.
InstructionCosts make_costs(const MeasuredCore& core);

/// The relative whose cost a form has where nobody measured it; itself if there is none.
InstructionForm relative_of(InstructionForm form);

}  // namespace pmusim::costs

#endif

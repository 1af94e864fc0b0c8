// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_COSTS_COSTS_H
#define PMUSIM_SRC_CPU_COSTS_COSTS_H

#include <span>

#include "pmusim/cpu/core_parameters.h"

/// Instruction costs of cores, made of what was measured on silicon and of which port does what.
namespace pmusim::costs {

struct PortRoles;

/// A measured form: cycles of a chain of it, and cycles per instruction of independent ones. 0: not measured.
struct MeasuredCost {
  InstructionForm form;
  double latency, throughput;
  u8 uops = 0;       ///< slots; 0: as on all cores
  u8 port_uops = 0;  ///< what its ports do; 0: what latency and throughput say
  u8 early = 0;      ///< cycles of the latency that are not those of the destination's old value
};
using MeasuredCosts = std::span<const MeasuredCost>;

/// Divisions of 128 by 64 bits whose quotient is small, as nearly all are. 0: they cost what all do.
struct WideDivision {
  double small_quotient_cycles = 0;   ///< between independent ones
  double small_quotient_latency = 0;  ///< of a chain; 0: as much shorter as the independent ones
};

/// Forms that were not measured have the cost of their nearest relative.
InstructionCosts make_costs(MeasuredCosts measured, const PortRoles& ports, WideDivision division);

/// The same of several tables: the first that has a form says what it costs.
InstructionCosts make_costs(std::span<const MeasuredCosts> tables, const PortRoles& ports,
                            WideDivision division);

/// The relative whose cost a form has where nobody measured it; itself if there is none.
InstructionForm relative_of(InstructionForm form);

const InstructionCosts& yonah();
const InstructionCosts& core2();
const InstructionCosts& penryn();
const InstructionCosts& nehalem();
const InstructionCosts& westmere();
const InstructionCosts& sandybridge();
const InstructionCosts& ivybridge();
const InstructionCosts& haswell();
const InstructionCosts& broadwell();
const InstructionCosts& skylake();
const InstructionCosts& skylake_x();
const InstructionCosts& cascadelake();
const InstructionCosts& cannonlake();
const InstructionCosts& icelake();
const InstructionCosts& icelake_server();
const InstructionCosts& tigerlake();
const InstructionCosts& rocketlake();
const InstructionCosts& golden_cove();
const InstructionCosts& raptor_cove();
const InstructionCosts& redwood_cove();
const InstructionCosts& lion_cove();
const InstructionCosts& bonnell();
const InstructionCosts& silvermont();
const InstructionCosts& knights_landing();
const InstructionCosts& goldmont();
const InstructionCosts& goldmont_plus();
const InstructionCosts& tremont();
const InstructionCosts& gracemont();
const InstructionCosts& crestmont();
const InstructionCosts& skymont();
const InstructionCosts& zen1();
const InstructionCosts& zen2();
const InstructionCosts& zen3();
const InstructionCosts& zen4();
const InstructionCosts& zen5();

}  // namespace pmusim::costs

#endif

// SPDX-License-Identifier: MIT
#include "core/core_costs.h"

namespace pmusim {
namespace {

InstructionCosts with_elimination(InstructionCosts costs, MoveElimination elimination) {
  const auto eliminate = [&](InstructionForm form) {
    InstructionCost& cost = costs.by_form[static_cast<unsigned>(form)];
    cost.latency_cycles = 0;
    cost.uses = {};
  };
  if (elimination != MoveElimination::none) eliminate(InstructionForm::vector_move);
  if (elimination == MoveElimination::all) eliminate(InstructionForm::move);
  return costs;
}

const InstructionCosts& measured_costs(const CoreParameters& core) {
  return core.costs == nullptr ? default_instruction_costs() : *core.costs;
}

}  // namespace

std::shared_ptr<const InstructionCosts> costs_of(const CoreParameters& core) {
  return std::make_shared<const InstructionCosts>(
      with_elimination(measured_costs(core), core.move_elimination));
}

PortMask move_ports(const CoreParameters& core, InstructionForm form) {
  return measured_costs(core).of(form).uses[0].ports;
}

// The bits of MSR 1A4, MISC_FEATURE_CONTROL (SDM vol. 4).
CoreParameters core_of(const CpuModel& model) {
  constexpr unsigned streamer = 0, adjacent_line = 1, stride = 3;
  CoreParameters core = model.core;
  const u32 off = model.policies.prefetchers_off;
  if ((off & bit(streamer)) != 0) core.l2_stream_pages = 0;
  if ((off & bit(adjacent_line)) != 0) core.adjacent_line_level = 0;
  if ((off & bit(stride)) != 0) core.l1_stride_loads = 0;
  return core;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
// The XSAVE instructions in the processor's memory: the XSAVE unit's registers, and the component that the
// LBR stack holds.
#include "pmu/sequencer.h"

namespace pmusim {

Fault Sequencer::save(SaveInstruction which, const XsaveOperands& operands) {
  constexpr StateComponent lbr = StateComponent::lbr;
  const bool lbr_in_use = model_->has_arch_lbr() && lbr_.component_in_use();
  const FaultOr<SavePlan> plan = xsave_.plan(which, operands, lbr_in_use ? state_bit(lbr) : 0);
  if (!plan.ok()) return plan.error();
  const std::span<std::byte> area = memory_->at(operands.address, plan->layout.bytes);
  if (area.empty()) return Fault::pf;
  xsave_.save(*plan, area);
  if (plan->writes(lbr)) lbr_.save_component(area.subspan(plan->layout[lbr]));
  return Fault::none;
}

Fault Sequencer::restore(RestoreInstruction which, const XsaveOperands& operands) {
  constexpr StateComponent lbr = StateComponent::lbr;
  if (const Fault fault = xsave_.check(which, operands); fault != Fault::none) return fault;
  const std::span<const std::byte> head = memory_->at(operands.address, xsave::extended_offset);
  if (head.empty()) return Fault::pf;
  const FaultOr<RestorePlan> plan = xsave_.plan(which, operands, head);
  if (!plan.ok()) return plan.error();
  const std::span<const std::byte> area = memory_->at(operands.address, plan->bytes);
  if (area.empty()) return Fault::pf;

  if (const Fault fault = xsave_.check_values(*plan, area); fault != Fault::none) return fault;
  if (plan->loads(lbr)) {
    const Fault fault = lbr_.restore_component(area.subspan(plan->layout[lbr]));
    if (fault != Fault::none) return fault;
  }
  if (plan->initializes(lbr)) lbr_.initialize_component();
  xsave_.restore(*plan, operands, area);
  return Fault::none;
}

}  // namespace pmusim

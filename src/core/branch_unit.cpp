// SPDX-License-Identifier: MIT
#include "core/branch_unit.h"

namespace pmusim {

Result<BranchUnit, Error> BranchUnit::create(const CoreParameters& parameters) {
  auto direction =
      DirectionPredictor::by_name(parameters.predictor, {.tables = parameters.predictor_tables,
                                                         .entries = parameters.predictor_entries,
                                                         .longest_history = parameters.predictor_history});
  if (!direction.ok()) return Failure(direction.error());
  return BranchUnit(std::move(direction).value(), parameters);
}

BranchUnit::BranchUnit(DirectionPredictor direction, const CoreParameters& parameters)
    : direction_(std::move(direction)),
      targets_(parameters.btb_entries),
      returns_(parameters.return_stack_entries) {}

Prediction BranchUnit::resolve_conditional(u64 ip, bool taken, u64 next_ip) {
  const bool right = direction_.train(ip, taken) == taken;
  const bool target_known = !taken || targets_.train_direct(ip, next_ip);
  if (!right) return Prediction::wrong;
  return target_known ? Prediction::right : Prediction::resteer;
}

Prediction BranchUnit::resolve(const BranchSite& branch, bool taken, u64 next_ip) {
  Prediction prediction = Prediction::right;
  switch (branch.kind) {
    case BranchKind::conditional:
      prediction = resolve_conditional(branch.ip, taken, next_ip);
      break;
    case BranchKind::direct_jump:
    case BranchKind::direct_call:
      if (!targets_.train_direct(branch.ip, next_ip)) prediction = Prediction::resteer;
      break;
    case BranchKind::indirect_jump:
    case BranchKind::indirect_call:
      if (!targets_.train_indirect(branch.ip, next_ip)) prediction = Prediction::wrong;
      break;
    case BranchKind::near_return:
      if (returns_.ret() != next_ip) prediction = Prediction::wrong;
      break;
    default:
      return prediction;
  }
  if (is_near_call(branch.kind)) returns_.call(branch.end);
  if (taken) targets_.follow(next_ip);
  return prediction;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "pmusim/cpu/retirement.h"

namespace pmusim {

using enum Signal;

SignalSet branch_signals(BranchKind kind) {
  switch (kind) {
    case BranchKind::none:
      return {};
    case BranchKind::conditional:
      return {branch, near_branch, conditional};
    case BranchKind::direct_jump:
      return {branch, near_branch, direct_jump};
    case BranchKind::indirect_jump:
      return {branch, near_branch, indirect, indirect_jump};
    case BranchKind::direct_call:
      return {branch, near_branch, near_call, direct_call};
    case BranchKind::indirect_call:
      return {branch, near_branch, near_call, indirect, indirect_call};
    case BranchKind::near_return:
      return {branch, near_branch, near_return};
    default:
      return {branch, far_branch};
  }
}

namespace {

SignalSet mispredict_signals(BranchKind kind, bool taken) {
  SignalSet signals{mispredicted};
  if (taken) signals.add(mispredicted_near_taken);
  if (kind == BranchKind::conditional) {
    signals.add(mispredicted_conditional);
    signals.add(taken ? mispredicted_conditional_taken : mispredicted_conditional_not_taken);
  }
  if (kind == BranchKind::near_return) signals.add(mispredicted_return);
  if (kind == BranchKind::indirect_call) signals.add(mispredicted_indirect_call);
  if (kind == BranchKind::indirect_call || kind == BranchKind::indirect_jump)
    signals.add(mispredicted_indirect);
  return signals;
}

}  // namespace

SignalSet outcome_signals(BranchKind kind, BranchOutcome outcome) {
  SignalSet signals;
  if (kind == BranchKind::conditional) signals.add(outcome.taken ? conditional_taken : conditional_not_taken);
  if (outcome.taken && is_near_branch(kind)) signals.add(near_taken);
  if (outcome.mispredicted) signals = signals | mispredict_signals(kind, outcome.taken);
  return signals;
}

}  // namespace pmusim

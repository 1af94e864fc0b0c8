// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_BRANCH_UNIT_H
#define PMUSIM_CORE_BRANCH_UNIT_H

#include "core/direction_predictor.h"
#include "core/return_stack.h"
#include "core/target_predictor.h"
#include "pmusim/cpu/model.h"
#include "pmusim/x86/instruction.h"

namespace pmusim {

/// How the front end fared at a branch.
enum class Prediction : u8 {
  right,
  resteer,  ///< right direction, but the target only known at decode: a bubble
  wrong,    ///< found out at execution: the pipeline is refilled
};

/// Everything that guesses where fetch goes on: direction, targets and returns.
class BranchUnit {
 public:
  /// Errors: an unknown predictor name.
  static Result<BranchUnit, Error> create(const CoreParameters& parameters);

  /// The fate of a near branch that went to `next_ip`; then the predictors learn it.
  Prediction resolve(const x86::Instruction& branch, bool taken, u64 next_ip);

 private:
  BranchUnit(DirectionPredictor direction, const CoreParameters& parameters);
  Prediction resolve_conditional(u64 ip, bool taken, u64 next_ip);

  DirectionPredictor direction_;
  TargetPredictor targets_;
  ReturnStack returns_;
};

}  // namespace pmusim

#endif

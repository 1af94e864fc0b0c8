// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_BRANCH_UNIT_H
#define PMUSIM_CORE_BRANCH_UNIT_H

#include <utility>

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

/// A branch where it stands.
struct BranchSite {
  u64 ip = 0, end = 0;
  BranchKind kind = BranchKind::none;
};

/// Everything that guesses where fetch goes on: direction, targets and returns.
class BranchUnit {
 public:
  /// Errors: an unknown predictor name.
  static Result<BranchUnit, Error> create(const CoreParameters& parameters);

  /// The fate of a near branch that went to `next_ip`; then the predictors learn it.
  Prediction resolve(const BranchSite& branch, bool taken, u64 next_ip);
  Prediction resolve(const x86::Instruction& branch, bool taken, u64 next_ip) {
    return resolve(BranchSite{branch.ip, branch.end(), branch.branch}, taken, next_ip);
  }

 private:
  BranchUnit(DirectionPredictor direction, const CoreParameters& parameters);
  Prediction resolve_conditional(u64 ip, bool taken, u64 next_ip);

  DirectionPredictor direction_;
  TargetPredictor targets_;
  ReturnStack returns_;
};

/// Software's prediction barriers (IA32_PRED_CMD.IBPB), behind which predictors know nothing.
class PredictionBarriers {
 public:
  explicit PredictionBarriers(BranchUnit fresh) : fresh_(std::move(fresh)) {}

  /// `asked_for`: how many there have been.
  void obey(u64 asked_for, BranchUnit& branches) {
    if (asked_for == obeyed_) return;
    branches = fresh_;
    obeyed_ = asked_for;
  }

 private:
  BranchUnit fresh_;
  u64 obeyed_ = 0;
};

}  // namespace pmusim

#endif

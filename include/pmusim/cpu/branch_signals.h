// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_BRANCH_SIGNALS_H
#define PMUSIM_CPU_BRANCH_SIGNALS_H

#include "pmusim/arch/branch.h"
#include "pmusim/cpu/signals.h"

namespace pmusim {

/// What a branch did.
struct BranchOutcome {
  bool taken = false, mispredicted = false;
};

/// What is true of a branch of this kind whenever it retires.
SignalSet branch_signals(BranchKind kind);

/// What is true of one execution beside that, so that whoever feeds a PMU without the core model can say it
/// as the core does:
///
///     Retirement r{.signals = {Signal::instruction}, .branch = kind, .taken = true};
///     r.signals = r.signals | branch_signals(kind) | outcome_signals(kind, {.taken = true});
SignalSet outcome_signals(BranchKind kind, BranchOutcome outcome);

}  // namespace pmusim

#endif

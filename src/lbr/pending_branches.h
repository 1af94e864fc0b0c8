// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LBR_PENDING_BRANCHES_H
#define PMUSIM_LBR_PENDING_BRANCHES_H

#include <algorithm>

#include "lbr/lbr_stack.h"

namespace pmusim {

/// Taken branches in user mode on their way to an LbrStack, which takes them in when something reads
/// it: of those that it only appends, the newest that can be seen.
class PendingBranches {
 public:
  /// Before the first, and whenever `stack` or `gate` may have changed.
  void begin(const LbrStack& stack, LbrGate gate) {
    kinds_ = gate == LbrGate::open ? stack.user_kinds() : LbrStack::UserKinds{};
  }

  /// Whether the stack can take in any.
  bool any_wanted() const { return (kinds_.appended | kinds_.special) != 0; }

  /// False, and nothing has happened, if the stack may do more with it than append it: it is for
  /// record_at_once(). Whether a branch is taken is what the host predicts worst of all: there is no jump on
  /// that here.
  bool add(const Branch& branch, bool taken) {
    if (taken & LbrStack::needs_more(branch, kinds_.special)) [[unlikely]]
      return false;
    newest_[count_ % newest_.size()] = {branch.from, branch.to,           branch.cycle,
                                        branch.kind, branch.mispredicted, branch.fused_bytes};
    count_ += kinds_.appended >> static_cast<unsigned>(branch.kind) & unsigned{taken};
    return true;
  }

  /// `stack` takes in what was added, and then `branch`. It is the stack of begin(), whose gate was open.
  void record_at_once(const Branch& branch, LbrStack& stack) {
    record_in(stack);
    stack.record(branch, LbrGate::open);
    begin(stack, LbrGate::open);
  }
  /// `stack` takes in what was added.
  void record_in(LbrStack& stack) {
    const u64 unseen = count_ - std::min<u64>(count_, newest_.size() - 1);
    stack.pass_over(unseen);
    for (u64 n = unseen; n < count_; ++n) {
      const Appended& branch = newest_[n % newest_.size()];
      stack.record({.from = branch.from,
                    .to = branch.to,
                    .cycle = branch.cycle,
                    .kind = branch.kind,
                    .mispredicted = branch.mispredicted,
                    .fused_bytes = branch.fused_bytes},
                   LbrGate::open);
    }
    count_ = 0;
  }

 private:
  // What such branches differ in.
  struct Appended {
    u64 from, to, cycle;
    BranchKind kind;
    bool mispredicted;
    u8 fused_bytes;
  };
  LbrStack::UserKinds kinds_;
  u64 count_ = 0;
  // More than a full ring: the cycle count of the oldest needs the one before it, and where the next is to be
  // stands what was not appended.
  std::array<Appended, 2 * LbrStack::ring_size> newest_{};
};

}  // namespace pmusim

#endif

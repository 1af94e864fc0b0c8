// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_TRANSACTIONS_H
#define PMUSIM_CORE_TRANSACTIONS_H

#include <span>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/x86/instruction.h"

namespace pmusim {

/// Transactional memory (RTM): from XBEGIN to XEND, or to an abort.
///
/// A trace has what was executed, and cannot be made to do anything else. So a transaction that aborts here,
/// but did not in the trace, ends at the instruction that aborts it, an abort follows as a transfer to the
/// fallback path, and what the trace has of the rest runs outside. One that did abort in the trace is seen by
/// its jump to the fallback path.
///
/// Written lines are held back in L1D, and abort where a set has no way left for another (SDM vol. 1,
/// 16.3.8.2 names the reasons and leaves sizes open). What was read is not limited. Transactions within a
/// transaction are part of it.
class Transactions {
 public:
  explicit Transactions(const CpuModel& model);

  /// What an instruction was to a transaction.
  struct Passed {
    TxState state = TxState::none;
    bool nested = false;             ///< it began or ended one within another, or what an abort had ended
    Signal reason = Signal::count_;  ///< why an abort follows, if it does
    u64 fallback_ip = 0;             ///< where to
  };
  /// An instruction on its way.
  struct Passing {
    const x86::Instruction& instruction;
    u64 next_ip = 0;
    bool taken = false;
    std::span<const MemoryAccess> accesses{};
  };

  /// Whether it need not see this instruction.
  bool ignores(x86::TransactionRole role) const {
    return !exist_ || (depth_ == 0 && role == x86::TransactionRole::none);
  }
  /// An instruction that is not ignored passes.
  Passed pass(const Passing& passing);
  /// An interrupt: a transaction aborts behind the next instruction.
  void interrupt() { interrupted_ = depth_ != 0; }

  /// What has run meanwhile was not seen: nothing is under way.
  void leave() {
    depth_ = 0;
    interrupted_ = aborted_ = false;
  }

  /// Says in the retirement of an instruction what was found when it passed.
  static void tell(const Passed& passed, Retirement& retirement);
  /// The abort behind an instruction that has retired.
  static Retirement abort_behind(const Passed& passed, const Retirement& at);

 private:
  void begin(const x86::Instruction& instruction);
  bool commit();
  Signal reason_to_abort(const Passing& passing);
  bool left_in_trace(const Passing& passing) const;
  bool conflicts(const Passing& passing) const;
  bool exceeds_capacity(const Passing& passing);
  bool hold_back(u64 line);

  bool exist_;
  u32 conflict_every_;
  u32 line_bytes_, ways_;
  u64 sets_;
  unsigned depth_ = 0;   // transactions begun, one within the other
  u64 begun_ = 0;        // outermost ones so far
  u64 fallback_ip_ = 0;  // of the outermost
  bool interrupted_ = false, aborted_ = false;
  std::vector<u64> lines_;     // written, by set of L1D
  std::vector<u32> lines_in_;  // how many in each set
};

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#include "core/transactions.h"

#include <algorithm>

namespace pmusim {
namespace {

SignalSet without(const SignalSet& signals, Signal left_out) {
  return signals.has(left_out) ? signals ^ SignalSet { left_out } : signals;
}

}  // namespace

Transactions::Transactions(const CpuModel& model)
    : exist_(model.rtm),
      conflict_every_(model.policies.tx_conflict_every),
      line_bytes_(model.core.l1d.line_bytes),
      ways_(model.core.l1d.ways),
      sets_(model.core.l1d.bytes / (u64{ways_} * line_bytes_)) {
  if (!exist_) return;
  lines_.resize(sets_ * ways_);
  lines_in_.resize(sets_);
}

void Transactions::begin(const x86::Instruction& instruction) {
  if (depth_++ != 0) return;
  ++begun_;
  fallback_ip_ = instruction.target;
  std::ranges::fill(lines_in_, 0);
}

// What follows an abort is not in the transaction, and its XEND commits nothing. Returns whether it does.
bool Transactions::commit() {
  const bool commits = depth_ <= 1 && !aborted_;
  if (depth_ != 0) --depth_;
  if (depth_ == 0) aborted_ = interrupted_ = false;
  return commits;
}

bool Transactions::hold_back(u64 line) {
  const u64 set = line % sets_;
  u64* const first = &lines_[set * ways_];
  u64* const end = first + lines_in_[set];
  if (std::find(first, end, line) != end) return true;
  if (lines_in_[set] == ways_) return false;
  *end = line;
  ++lines_in_[set];
  return true;
}

bool Transactions::exceeds_capacity(const Passing& passing) {
  for (const MemoryAccess& access : passing.accesses) {
    if (access.kind != AccessKind::store) continue;
    const u64 last = (access.address + std::max(access.bytes, 1u) - 1) / line_bytes_;
    for (u64 line = access.address / line_bytes_; line <= last; ++line)
      if (!hold_back(line)) return true;
  }
  return false;
}

// At the first access to memory of one transaction of so many.
bool Transactions::conflicts(const Passing& passing) const {
  return conflict_every_ != 0 && begun_ % conflict_every_ == 0 && passing.instruction.memory_operands != 0;
}

bool Transactions::left_in_trace(const Passing& passing) const {
  return passing.next_ip == fallback_ip_ && passing.next_ip != passing.instruction.end() && !passing.taken;
}

Signal Transactions::reason_to_abort(const Passing& passing) {
  const x86::TransactionRole role = passing.instruction.transaction;
  if (role == x86::TransactionRole::aborts) return Signal::tx_abort_explicit;
  if (role == x86::TransactionRole::unfriendly) return Signal::tx_abort_unfriendly;
  if (interrupted_ || left_in_trace(passing)) return Signal::tx_abort_event;
  if (conflicts(passing)) return Signal::tx_abort_conflict;
  if (exceeds_capacity(passing)) return Signal::tx_abort_capacity;
  return Signal::count_;
}

Transactions::Passed Transactions::pass(const Passing& passing) {
  const x86::TransactionRole role = passing.instruction.transaction;
  Passed passed{.state = depth_ != 0 ? TxState::in_tx : TxState::none, .fallback_ip = fallback_ip_};
  if (role == x86::TransactionRole::commits) {
    passed.nested = !commit();
    return passed;
  }
  if (role == x86::TransactionRole::begins) {
    passed.nested = depth_ != 0;
    aborted_ = false;
    begin(passing.instruction);
    passed.fallback_ip = fallback_ip_;
    if (!left_in_trace(passing)) return passed;
  }
  if (depth_ == 0) return passed;
  passed.reason = reason_to_abort(passing);
  if (passed.reason == Signal::count_) return passed;
  aborted_ = true;
  interrupted_ = false;
  depth_ = 0;
  return passed;
}

void Transactions::tell(const Passed& passed, Retirement& retirement) {
  retirement.tx = passed.state;
  if (!passed.nested) return;
  retirement.signals = without(without(retirement.signals, Signal::tx_start), Signal::tx_commit);
}

Retirement Transactions::abort_behind(const Passed& passed, const Retirement& at) {
  return {.ip = at.ip,
          .next_ip = passed.fallback_ip,
          .cycle = at.cycle,
          .signals = {Signal::tx_abort, passed.reason},
          .branch = BranchKind::tsx_abort,
          .taken = true,
          .tx = TxState::aborting,
          .registers = at.registers};
}

}  // namespace pmusim

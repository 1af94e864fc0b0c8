// SPDX-License-Identifier: MIT
#ifndef PMUSIM_LBR_BRANCH_H
#define PMUSIM_LBR_BRANCH_H

#include "arch/debugctl.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// A taken control transfer as it retires: what the LBR and the branch trace store see of it.
struct Branch {
  u64 from = 0;   ///< the branch itself; for an interrupt the address that it returns to
  u64 to = 0;     ///< where execution goes on
  u64 cycle = 0;  ///< absolute core cycle
  BranchKind kind = BranchKind::none;
  Cpl cpl_before = Cpl::user;
  Cpl cpl_after = Cpl::user;
  TxState tx = TxState::none;
  bool mispredicted = false;
  bool zero_length_call = false;  ///< a call of the next instruction ("get PC"), which no RET matches

  /// The control transfer of a retirement with `taken` set.
  static Branch of(const Retirement& r) {
    return {r.ip,     r.next_ip,      r.cycle,
            r.branch, r.cpl,          r.cpl_after,
            r.tx,     r.mispredicted, r.branch == BranchKind::direct_call && r.next_ip == r.ip + r.length};
  }
};

/// Whether branches reach the LBR at all, its own enable aside.
enum class LbrGate : u8 { closed, open };

/// Freezing closes the gate (LBR_FRZ in GLOBAL_STATUS), and so does DEBUGCTL.LBR = 0 on parts whose records
/// have no enable of their own (SDM vol. 3, LBR; freeze on PMI. APM vol. 2, 13.1).
inline LbrGate lbr_gate(const CpuModel& model, u64 debugctl, u64 global_status) {
  const bool enabled = model.has_lbr_by_age() || (debugctl & msr::debugctl::LBR) != 0;
  return enabled && (global_status & msr::status::LBR_FRZ) == 0 ? LbrGate::open : LbrGate::closed;
}

/// What delivery of #DB leaves of DEBUGCTL: LBR and BTF are cleared before the handler runs.
inline u64 debugctl_after_debug_exception(u64 debugctl) {
  return debugctl & ~(msr::debugctl::LBR | msr::debugctl::BTF);
}

}  // namespace pmusim

#endif

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
  u8 fused_bytes = 0;             ///< of the instruction before it, if the two are fused
  bool zero_length_call = false;  ///< a call of the next instruction ("get PC"), which no RET matches

  /// The control transfer of a retirement with `taken` set.
  static Branch of(const Retirement& r) {
    return {.from = r.ip,
            .to = r.next_ip,
            .cycle = r.cycle,
            .kind = r.branch,
            .cpl_before = r.cpl,
            .cpl_after = r.cpl_after,
            .tx = r.tx,
            .mispredicted = r.mispredicted,
            .fused_bytes = r.fused_length,
            .zero_length_call = r.branch == BranchKind::direct_call && r.next_ip == r.ip + r.length};
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

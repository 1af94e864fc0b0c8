#ifndef PMUSIM_CPU_POLICIES_H
#define PMUSIM_CPU_POLICIES_H

#include <span>
#include <string>
#include <string_view>

#include "pmusim/base/error.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// What manuals leave open, each with a documented default. `--policy NAME=VALUE` and
/// `set_policy(policies, name, value)` change one; `policy_table()` lists them.
///
/// Every member is an unsigned number; those that choose between behaviours name their values in the table.
struct Policies {
  // PMI
  u32 pmi_skid_cycles = 24;  ///< from the overflow to the earliest instruction boundary that takes the PMI
  u32 pebs_pmi_skid_cycles =
      0;                     ///< the same for the PMI that a PEBS record asks for, from the end of the assist
  u32 pmi_while_masked = 0;  ///< 0 the request stays pending until LVTPC is unmasked, 1 it is lost
  u32 pmi_repeat = 1;        ///< 1 a wrap with its status bit already set requests another PMI, 0 it does not
  u32 pmi_boundary = 0;  ///< a due PMI is taken 0 before the next instruction retires, 1 after the one that
                         ///< finds it due
  // counters
  u32 global_ctrl_reset = 0;  ///< GLOBAL_CTRL after RESET: 0 all GP counters, 1 those of CPUID.0AH, 2 none
  u32 in_txcp_abort = 0;      ///< IN_TX with IN_TXCP, transaction aborts: 0 counts go back, 1 they stay
  u32 evtsel_eq_without_cmask = 0;  ///< EQ with CMASK 0: 0 inert, 1 counts cycles without an occurrence
  u32 status_set_cond_chgd = 0;     ///< writing 1 to STATUS_SET[63]: 0 #GP, 1 sets CondChgd
  u32 edge_history_at_enable = 0;   ///< 0 cleared when a counter is enabled, 1 kept
  // PEBS
  u32 pebs_arm_cycles = 4;    ///< overflow to armed (A to B)
  u32 pebs_merge_cycles = 2;  ///< assists that become due this close share one record
  u32 pebs_reload_scope =
      0;  ///< reload 0 the counters that the record serves, 1 all overflowed PEBS counters
  u32 pebs_reload_when_full = 1;  ///< buffer full: 1 counters still reload, 0 they do not
  u32 pebs_status_race = 0;     ///< formats 1-2: 1 a clear of GLOBAL_STATUS during the assist zeroes the copy
  u32 pebs_mixed_layout = 1;    ///< one record for adaptive and plain counters: 1 adaptive layout, 0 basic
  u32 pebs_fragment_bytes = 0;  ///< architectural records longer than this are split between groups; 0 never
  // LBR
  u32 lbr_callstack_pop_clears = 1;    ///< legacy call stack: 1 a popped slot reads 0, 0 only TOS moves
  u32 lbr_callstack_underflow = 0;     ///< legacy return on an empty stack: 0 TOS stays, 1 TOS moves down
  u32 lbr_tos_reserved_faults = 1;     ///< writing reserved TOS bits: 1 #GP, 0 ignored
  u32 lbr_depth_write_clears_ler = 0;  ///< 1 a write of LBR_DEPTH also clears LER
  u32 lbr_arch_canonical_faults = 1;   ///< a non-canonical arch FROM/TO write: 1 #GP, 0 accepted
  u32 lbr_zero_call_recorded = 1;      ///< zero-length calls outside call-stack mode: 1 recorded, 0 not
  u32 lbr_abort_filtered = 1;          ///< TSX aborts: 1 follow the far / other branch filter, 0 always kept
  u32 lbr_enable_restarts_cycles = 1;  ///< arch, first record after LBREn is set: 1 no cycle count, 0 one
  u32 lbr_info_reserved_faults = 1;    ///< writing reserved bits of a legacy INFO: 1 #GP, 0 ignored
  u32 lbr_xsaves_beyond_depth = 0;     ///< component 15, entries from DEPTH on: 0 stored as 0, 1 not stored
  // XSAVE
  u32 xsave_modified_optimization =
      1;  ///< XSAVEOPT, XSAVES: 1 leave out what is unchanged since XRSTOR, 0 do not
  // ACR
  u32 acr_reload_extension = 0;  ///< reload value's upper bits: 0 copies of bit 31, 1 all ones
  u32 acr_tie =
      0;  ///< causes that overflow in one cycle: 0 all act on pre-reload values, 1 lowest index first
  u32 acr_lost_increment =
      1;  ///< what a victim that wraps in the reload cycle has counted past its wrap: 1 lost, 0 added
};

/// One row of the list of policies.
struct PolicyInfo {
  std::string_view name;
  u32 Policies::*member;
  std::string_view meaning;  ///< one sentence with the values it takes
};

std::span<const PolicyInfo> policy_table();

/// Sets one policy from text (a decimal or 0x number). Errors name the policy and near matches.
[[nodiscard]] Result<Done, Error> set_policy(Policies& policies, std::string_view name,
                                             std::string_view value);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_POLICIES_H
#define PMUSIM_CPU_POLICIES_H

#include <span>
#include <string>
#include <string_view>

#include "pmusim/base/bits.h"
#include "pmusim/base/error.h"

namespace pmusim {

/// What manuals leave open, each with its default. `policy_table()` says what each number means and on what
/// it rests, docs/policies.md shows that as a page; `--policy NAME=VALUE` and `set_policy(policies, name,
/// value)` change one.
struct Policies {
  // PMI
  u32 pmi_skid_cycles = 24;
  u32 pebs_pmi_skid_cycles = 0;
  u32 pmi_while_masked = 0;
  u32 pmi_repeat = 1;
  u32 pmi_boundary = 0;
  u32 pmi_drain = 0;
  // core
  u32 prefetchers_off = 0;
  u32 pmi_cost_cycles = 0;
  u32 pmi_cost_instructions = 0;
  u32 pebs_assist_cycles = 0;
  u32 pebs_assist_line_cycles = 0;
  u32 tx_conflict_every = 0;
  // counters
  u32 global_ctrl_reset = 0;
  u32 in_txcp_abort = 0;
  u32 evtsel_eq_without_cmask = 0;
  u32 status_set_cond_chgd = 0;
  u32 edge_history_at_enable = 0;
  // PEBS
  u32 pebs_arm_cycles = 4;
  u32 pebs_merge_cycles = 2;
  u32 pebs_reload_scope = 0;
  u32 pebs_reload_when_full = 1;
  u32 pebs_status_race = 0;
  u32 pebs_mixed_layout = 1;
  u32 pebs_fragment_bytes = 0;
  u32 pebs_vector_groups = 0;
  // LBR
  u32 lbr_callstack_pop_clears = 1;
  u32 lbr_callstack_underflow = 0;
  u32 lbr_tos_reserved_faults = 1;
  u32 lbr_depth_write_clears_ler = 0;
  u32 lbr_arch_canonical_faults = 1;
  u32 lbr_zero_call_recorded = 1;
  u32 lbr_abort_filtered = 1;
  u32 lbr_enable_restarts_cycles = 1;
  u32 lbr_info_reserved_faults = 1;
  u32 lbr_xsaves_beyond_depth = 0;
  // XSAVE
  u32 xsave_modified_optimization = 1;
  // ACR
  u32 acr_reload_extension = 0;
  u32 acr_tie = 0;
  u32 acr_lost_increment = 1;
};

/// One row of the list of policies: all that is said of one, but for its default, which `Policies` has.
struct PolicyInfo {
  std::string_view name;
  u32 Policies::*member;
  u32 greatest;              ///< the largest value that it takes; the smallest is 0
  std::string_view meaning;  ///< one sentence with what the values do
  std::string_view source;   ///< what manuals and drivers say, or do not
};

/// All policies, in the order of `Policies`.
std::span<const PolicyInfo> policy_table();

/// Sets one policy from text (a decimal or 0x number). Errors name the policy and near matches, or its range.
[[nodiscard]] Result<Done, Error> set_policy(Policies& policies, std::string_view name,
                                             std::string_view value);

}  // namespace pmusim

#endif

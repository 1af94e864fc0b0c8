// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "base/suggest.h"
#include "pmusim/cpu/model.h"

namespace pmusim {
namespace {

constexpr u32 most_cycles = 1'000'000;  // a millisecond or so

constexpr PolicyInfo known_policies[] = {
    {"pmi_skid_cycles", &Policies::pmi_skid_cycles, most_cycles,
     "cycles from an overflow to the earliest instruction boundary that takes the PMI",
     "SDM vol. 3 tells of skid and gives no number"},
    {"pebs_pmi_skid_cycles", &Policies::pebs_pmi_skid_cycles, most_cycles,
     "cycles from the end of a PEBS assist to the instruction boundary that takes the PMI it asks for",
     "SDM vol. 3 gives no number; the assist has drained the pipeline"},
    {"pmi_while_masked", &Policies::pmi_while_masked, 2,
     "a PMI request while LVTPC is masked: 0 stays pending, 1 is lost, 2 stays pending unless GLOBAL_STATUS "
     "is 0 when LVTPC is unmasked",
     "SDM vol. 3, local APIC: the mask inhibits the interrupt; what becomes of the request is not said"},
    {"pmi_repeat", &Policies::pmi_repeat, 1,
     "a wrap of a counter whose status bit is already set: 1 requests another PMI, 0 does not",
     "SDM vol. 3, EVTSEL.INT: at every overflow; whether a new status bit is needed is not said"},
    {"pmi_boundary", &Policies::pmi_boundary, 1,
     "a PMI that is due is taken 0 before the next instruction retires, 1 after the one that finds it due",
     "SDM vol. 3: at an instruction boundary, not which"},
    {"pmi_drain", &Policies::pmi_drain, 1,
     "what was dispatched before a PMI is due: 0 is thrown away, all but the oldest instruction, 1 retires "
     "before the PMI is taken, so that skid grows with what is in flight",
     "SDM vol. 3: at an instruction boundary, not which"},
    {"prefetchers_off", &Policies::prefetchers_off, 15,
     "prefetchers that are off, a sum as in MSR 1A4: 1 L2 streamer, 2 L2 adjacent line, 4 L1 next line (no "
     "core "
     "has one here), 8 L1 stride",
     "SDM vol. 4, MISC_FEATURE_CONTROL: all are on after RESET"},
    {"pmi_cost_cycles", &Policies::pmi_cost_cycles, most_cycles,
     "cycles that pass in ring 0, before the program goes on, when a PMI has been handled",
     "no manual gives one: it depends on the kernel; 0 keeps counts free of the sampling itself"},
    {"pmi_cost_instructions", &Policies::pmi_cost_instructions, most_cycles,
     "instructions that retire in ring 0, spread over `pmi_cost_cycles`, when a PMI has been handled",
     "no manual gives one: it depends on the kernel; 0 keeps counts free of the sampling itself"},
    {"pebs_assist_cycles", &Policies::pebs_assist_cycles, most_cycles,
     "cycles that the microcode of a PEBS assist takes for each record, in which nothing retires",
     "no manual gives one; literature speaks of 200 to 300 ns; 0 keeps counts free of the sampling itself"},
    {"pebs_assist_line_cycles", &Policies::pebs_assist_line_cycles, most_cycles,
     "further cycles of a PEBS assist for each 64 bytes of the record, begun ones too",
     "no manual gives one; 0 as above"},
    {"tx_conflict_every", &Policies::tx_conflict_every, most_cycles,
     "of so many transactions one is aborted at its first access to memory, as another processor wants the "
     "line; 0: none",
     "which do depends on what runs elsewhere"},
    {"ibs_wrong_path_ops", &Policies::ibs_wrong_path_ops, 1000,
     "ops dispatched behind each mispredicted branch that never retire: IBS counts them, and a tag that "
     "falls on one leaves no sample",
     "no trace has the path that was not taken; the manual (APM vol. 2, 13.3) says what becomes of such a "
     "tag"},
    {"global_ctrl_reset", &Policies::global_ctrl_reset, 2,
     "GLOBAL_CTRL after RESET enables 0 all general-purpose counters, 1 those that CPUID.0AH counts, which "
     "are fewer on a hybrid's larger core, 2 none",
     "SDM vol. 3, table of states after RESET: all; older editions: none"},
    {"in_txcp_abort", &Policies::in_txcp_abort, 1,
     "a counter with IN_TX and IN_TXCP when its transaction aborts: 0 goes back, 1 keeps its count",
     "SDM vol. 3, IN_TXCP: goes back; hypervisor tests that abort expect counts"},
    {"evtsel_eq_without_cmask", &Policies::evtsel_eq_without_cmask, 1,
     "EVTSEL.EQ with CMASK 0: 0 inert, 1 counts cycles without an occurrence",
     "SDM vol. 3 explains EQ for a CMASK above 0"},
    {"status_set_cond_chgd", &Policies::status_set_cond_chgd, 1,
     "writing 1 to GLOBAL_STATUS_SET[63]: 0 #GP, 1 sets CondChgd",
     "SDM vol. 3 and vol. 4 differ about that bit"},
    {"edge_history_at_enable", &Policies::edge_history_at_enable, 1,
     "the last state that EDGE compares with: 0 cleared when the counter is enabled, 1 kept",
     "SDM vol. 3, EVTSEL.E: not said"},
    {"pebs_arm_cycles", &Policies::pebs_arm_cycles, most_cycles,
     "cycles from a PEBS counter's overflow to armed", "SDM vol. 3 tells of the delay and gives no number"},
    {"pebs_merge_cycles", &Policies::pebs_merge_cycles, most_cycles,
     "PEBS assists that become due within so many cycles share one record",
     "Linux expects records for several counters (intel_pmu_drain_pebs_nhm); no document says how close"},
    {"pebs_reload_scope", &Policies::pebs_reload_scope, 1,
     "a PEBS record reloads 0 the counters it serves, 1 all overflowed PEBS counters",
     "SDM vol. 3: the counter of the record; other overflowed ones are not mentioned"},
    {"pebs_reload_when_full", &Policies::pebs_reload_when_full, 1,
     "PEBS buffer full: 1 counters still reload, 0 they do not",
     "SDM vol. 3: no record is written; reloading is not mentioned"},
    {"pebs_status_race", &Policies::pebs_status_race, 1,
     "formats 1-2, GLOBAL_STATUS cleared during the assist: 1 the record's copy reads 0, 0 it does not",
     "Linux copes with a copy of 0 (intel_pmu_drain_pebs_nhm); no document says when one is written"},
    {"pebs_mixed_layout", &Policies::pebs_mixed_layout, 1,
     "one record for adaptive and plain counters: 1 adaptive layout, 0 basic",
     "SDM vol. 3, Adaptive_Record: described for one counter"},
    {"pebs_fragment_bytes", &Policies::pebs_fragment_bytes, 65'536,
     "architectural PEBS records longer than so many bytes are split between groups; 0 never",
     "SDM vol. 3: software must expect fragments; when a record is split is not said"},
    {"pebs_vector_groups", &Policies::pebs_vector_groups, 1,
     "vector groups of architectural PEBS records: 0 those of Panther Lake (XMM, YMMH), 1 besides OPMASK, "
     "ZMMH, HI16_ZMM and EGPR as far as XCR0 has their state",
     "CPUID.23H.4 of Panther Lake, which has neither AVX-512 nor APX; of a part that has them no dump is "
     "known"},
    {"lbr_callstack_pop_clears", &Policies::lbr_callstack_pop_clears, 1,
     "legacy LBR call stack: 1 a popped slot reads 0, 0 only TOS moves",
     "Linux ends a call stack at a FROM of 0 (intel_pmu_lbr_read_64); SDM vol. 3: the entry is discarded"},
    {"lbr_callstack_underflow", &Policies::lbr_callstack_underflow, 1,
     "legacy LBR call stack, return when empty: 0 TOS stays, 1 TOS moves down", "SDM vol. 3: not said"},
    {"lbr_tos_reserved_faults", &Policies::lbr_tos_reserved_faults, 1,
     "writing reserved LBR_TOS bits: 1 #GP, 0 ignored", "SDM vol. 4: reserved, no more"},
    {"lbr_depth_write_clears_ler", &Policies::lbr_depth_write_clears_ler, 1,
     "a write of IA32_LBR_DEPTH: 1 also clears LER, 0 does not",
     "SDM vol. 3: LBR entries are cleared; LER is not mentioned"},
    {"lbr_arch_canonical_faults", &Policies::lbr_arch_canonical_faults, 1,
     "writing a non-canonical address to an architectural FROM or TO: 1 #GP, 0 accepted",
     "SDM vol. 3: not said"},
    {"lbr_zero_call_recorded", &Policies::lbr_zero_call_recorded, 1,
     "zero-length calls outside call-stack mode: 1 recorded, 0 not",
     "SDM vol. 3 leaves them out in call-stack mode; of the rest it speaks as of calls"},
    {"lbr_abort_filtered", &Policies::lbr_abort_filtered, 1,
     "TSX abort records: 1 follow the far / other branch filter, 0 are always kept",
     "SDM vol. 3: the filter's classes do not name aborts"},
    {"lbr_enable_restarts_cycles", &Policies::lbr_enable_restarts_cycles, 1,
     "architectural LBR, first record after LBREn is set: 1 has no cycle count, 0 counts from the last",
     "SDM vol. 3, CYC_CNT_VALID: not said when it is clear"},
    {"lbr_info_reserved_faults", &Policies::lbr_info_reserved_faults, 1,
     "writing reserved bits of a legacy LBR INFO: 1 #GP, 0 ignored", "SDM vol. 4: reserved, no more"},
    {"lbr_xsaves_beyond_depth", &Policies::lbr_xsaves_beyond_depth, 1,
     "XSAVES of LBR entries from LBR_DEPTH on: 0 stores zeros, 1 leaves memory alone",
     "SDM vol. 1, LBR state: not said"},
    {"xsave_modified_optimization", &Policies::xsave_modified_optimization, 1,
     "XSAVEOPT and XSAVES into the area of the last XRSTOR: 1 leave out what has not changed, 0 store all",
     "SDM vol. 1, XSAVEOPT: a processor may"},
    {"acr_reload_extension", &Policies::acr_reload_extension, 1,
     "upper bits of an ACR reload value: 0 copies of bit 31, 1 all ones",
     "SDM vol. 3: 32 bits are given; drivers use values with bit 31 set, for which both are one"},
    {"acr_tie", &Policies::acr_tie, 1,
     "ACR causes that overflow in one cycle: 0 all act on pre-reload values, 1 lowest index first",
     "SDM vol. 3: not said"},
    {"acr_lost_increment", &Policies::acr_lost_increment, 1,
     "what an ACR victim that wraps in the reload cycle has counted past its wrap: 1 lost, 0 added after the "
     "reload",
     "SDM vol. 3: not said"},
};

}  // namespace

std::span<const PolicyInfo> policy_table() { return known_policies; }

Result<Done, Error> set_policy(Policies& policies, std::string_view name, std::string_view value) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : known_policies) {
    if (policy.name != name) {
      names.push_back(policy.name);
      continue;
    }
    const bool hex = value.starts_with("0x") || value.starts_with("0X");
    const std::string_view digits = hex ? value.substr(2) : value;
    u32 number = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
    if (error != std::errc{} || end != digits.data() + digits.size() || number > policy.greatest)
      return Failure(
          Error(fmt::format("policy {}: '{}' is not a number from 0 to {}", name, value, policy.greatest)));
    policies.*policy.member = number;
    return Done{};
  }
  return Failure(Error(fmt::format("unknown policy '{}'{}", name, did_you_mean(name, names))));
}

}  // namespace pmusim

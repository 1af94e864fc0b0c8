#include "pmusim/cpu/policies.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "pmusim/base/suggest.h"
#include "pmusim/cpu/policy_range.h"

namespace pmusim {
namespace {

constexpr PolicyInfo table[] = {
    {"pmi_skid_cycles", &Policies::pmi_skid_cycles,
     "cycles from an overflow to the earliest instruction boundary that takes the PMI"},
    {"pebs_pmi_skid_cycles", &Policies::pebs_pmi_skid_cycles,
     "cycles from the end of a PEBS assist to the instruction boundary that takes the PMI it asks for"},
    {"pmi_while_masked", &Policies::pmi_while_masked,
     "a PMI request while LVTPC is masked: 0 stays pending, 1 is lost"},
    {"pmi_repeat", &Policies::pmi_repeat,
     "a wrap of a counter whose status bit is already set: 1 requests another PMI, 0 does not"},
    {"pmi_boundary", &Policies::pmi_boundary,
     "a PMI that is due is taken 0 before the next instruction retires, 1 after the one that finds it due"},
    {"global_ctrl_reset", &Policies::global_ctrl_reset,
     "GLOBAL_CTRL after RESET enables 0 all general-purpose counters, 1 those that CPUID.0AH counts, 2 none"},
    {"in_txcp_abort", &Policies::in_txcp_abort,
     "a counter with IN_TX and IN_TXCP when its transaction aborts: 0 goes back, 1 keeps its count"},
    {"evtsel_eq_without_cmask", &Policies::evtsel_eq_without_cmask,
     "EVTSEL.EQ with CMASK 0: 0 inert, 1 counts cycles without an occurrence"},
    {"status_set_cond_chgd", &Policies::status_set_cond_chgd,
     "writing 1 to GLOBAL_STATUS_SET[63]: 0 #GP, 1 sets CondChgd"},
    {"edge_history_at_enable", &Policies::edge_history_at_enable,
     "the last state that EDGE compares with: 0 cleared when the counter is enabled, 1 kept"},
    {"pebs_arm_cycles", &Policies::pebs_arm_cycles, "cycles from a PEBS counter's overflow to armed"},
    {"pebs_merge_cycles", &Policies::pebs_merge_cycles,
     "PEBS assists that become due within so many cycles share one record"},
    {"pebs_reload_scope", &Policies::pebs_reload_scope,
     "a PEBS record reloads 0 the counters it serves, 1 all overflowed PEBS counters"},
    {"pebs_reload_when_full", &Policies::pebs_reload_when_full,
     "PEBS buffer full: 1 counters still reload, 0 they do not"},
    {"pebs_status_race", &Policies::pebs_status_race,
     "formats 1-2, GLOBAL_STATUS cleared during the assist: 1 the record's copy reads 0, 0 it does not"},
    {"pebs_mixed_layout", &Policies::pebs_mixed_layout,
     "one record for adaptive and plain counters: 1 adaptive layout, 0 basic"},
    {"pebs_fragment_bytes", &Policies::pebs_fragment_bytes,
     "architectural PEBS records longer than so many bytes are split between groups; 0 never"},
    {"lbr_callstack_pop_clears", &Policies::lbr_callstack_pop_clears,
     "legacy LBR call stack: 1 a popped slot reads 0, 0 only TOS moves"},
    {"lbr_callstack_underflow", &Policies::lbr_callstack_underflow,
     "legacy LBR call stack, return when empty: 0 TOS stays, 1 TOS moves down"},
    {"lbr_tos_reserved_faults", &Policies::lbr_tos_reserved_faults,
     "writing reserved LBR_TOS bits: 1 #GP, 0 ignored"},
    {"lbr_depth_write_clears_ler", &Policies::lbr_depth_write_clears_ler,
     "a write of IA32_LBR_DEPTH: 1 also clears LER, 0 does not"},
    {"lbr_arch_canonical_faults", &Policies::lbr_arch_canonical_faults,
     "writing a non-canonical address to an architectural FROM or TO: 1 #GP, 0 accepted"},
    {"lbr_zero_call_recorded", &Policies::lbr_zero_call_recorded,
     "zero-length calls outside call-stack mode: 1 recorded, 0 not"},
    {"lbr_abort_filtered", &Policies::lbr_abort_filtered,
     "TSX abort records: 1 follow the far / other branch filter, 0 are always kept"},
    {"lbr_enable_restarts_cycles", &Policies::lbr_enable_restarts_cycles,
     "architectural LBR, first record after LBREn is set: 1 has no cycle count, 0 counts from the last"},
    {"lbr_info_reserved_faults", &Policies::lbr_info_reserved_faults,
     "writing reserved bits of a legacy LBR INFO: 1 #GP, 0 ignored"},
    {"lbr_xsaves_beyond_depth", &Policies::lbr_xsaves_beyond_depth,
     "XSAVES of LBR entries from LBR_DEPTH on: 0 stores zeros, 1 leaves memory alone"},
    {"xsave_modified_optimization", &Policies::xsave_modified_optimization,
     "XSAVEOPT and XSAVES into the area of the last XRSTOR: 1 leave out what has not changed, 0 store all"},
    {"acr_reload_extension", &Policies::acr_reload_extension,
     "upper bits of an ACR reload value: 0 copies of bit 31, 1 all ones"},
    {"acr_tie", &Policies::acr_tie,
     "ACR causes that overflow in one cycle: 0 all act on pre-reload values, 1 lowest index first"},
    {"acr_lost_increment", &Policies::acr_lost_increment,
     "what an ACR victim that wraps in the reload cycle has counted past its wrap: 1 lost, 0 added after the "
     "reload"},
};

/// Policies that are amounts, with the largest that makes sense: a millisecond or so, and what a record of
/// every group has.
struct Amount {
  u32 Policies::*member;
  u32 greatest;
};
constexpr Amount amounts[] = {
    {&Policies::pmi_skid_cycles, 1'000'000},  {&Policies::pebs_pmi_skid_cycles, 1'000'000},
    {&Policies::pebs_arm_cycles, 1'000'000},  {&Policies::pebs_merge_cycles, 1'000'000},
    {&Policies::pebs_fragment_bytes, 65'536},
};

}  // namespace

u32 greatest_value(const PolicyInfo& policy) {
  for (const Amount& amount : amounts)
    if (amount.member == policy.member) return amount.greatest;
  return 1;
}

std::span<const PolicyInfo> policy_table() { return table; }

Result<Done, Error> set_policy(Policies& policies, std::string_view name, std::string_view value) {
  std::vector<std::string_view> names;
  for (const PolicyInfo& policy : table) {
    if (policy.name != name) {
      names.push_back(policy.name);
      continue;
    }
    const bool hex = value.starts_with("0x") || value.starts_with("0X");
    const std::string_view digits = hex ? value.substr(2) : value;
    u32 number = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
    const u32 greatest = greatest_value(policy);
    if (error != std::errc{} || end != digits.data() + digits.size() || number > greatest)
      return Failure(
          Error(fmt::format("policy {}: '{}' is not a number from 0 to {}", name, value, greatest)));
    policies.*policy.member = number;
    return Done{};
  }
  return Failure(Error(fmt::format("unknown policy '{}'{}", name, did_you_mean(name, names))));
}

}  // namespace pmusim

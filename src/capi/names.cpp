// SPDX-License-Identifier: MIT
#include "capi/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/suggest.h"
#include "capi/error.h"

namespace pmusim::capi {

namespace {

/// In the order of Signal.
constexpr std::array<std::string_view, 91> signal_names{"instruction",
                                                        "nop",
                                                        "prefetch",
                                                        "locked",
                                                        "serializing",
                                                        "fp_scalar_single",
                                                        "fp_scalar_double",
                                                        "fp_packed_128_single",
                                                        "fp_packed_128_double",
                                                        "fp_packed_256_single",
                                                        "fp_packed_256_double",
                                                        "fp_packed_512_single",
                                                        "fp_packed_512_double",
                                                        "x87",
                                                        "divide",
                                                        "rep_string",
                                                        "macro_fused",
                                                        "microcoded",
                                                        "pause",
                                                        "branch",
                                                        "near_branch",
                                                        "conditional",
                                                        "conditional_taken",
                                                        "conditional_not_taken",
                                                        "near_taken",
                                                        "direct_jump",
                                                        "indirect_jump",
                                                        "direct_call",
                                                        "indirect_call",
                                                        "near_call",
                                                        "near_return",
                                                        "far_branch",
                                                        "indirect",
                                                        "mispredicted",
                                                        "mispredicted_conditional",
                                                        "mispredicted_conditional_taken",
                                                        "mispredicted_conditional_not_taken",
                                                        "mispredicted_near_taken",
                                                        "mispredicted_indirect",
                                                        "mispredicted_indirect_call",
                                                        "mispredicted_return",
                                                        "load",
                                                        "store",
                                                        "split_load",
                                                        "split_store",
                                                        "load_l1_hit",
                                                        "load_l1_miss",
                                                        "load_fb_hit",
                                                        "load_l2_hit",
                                                        "load_l2_miss",
                                                        "load_l3_hit",
                                                        "load_l3_miss",
                                                        "load_dram",
                                                        "store_l1_hit",
                                                        "store_l1_miss",
                                                        "store_l2_miss",
                                                        "store_l3_hit",
                                                        "store_l3_miss",
                                                        "load_stlb_hit",
                                                        "load_stlb_miss",
                                                        "store_stlb_hit",
                                                        "store_stlb_miss",
                                                        "load_dtlb_miss",
                                                        "store_dtlb_miss",
                                                        "load_latency",
                                                        "store_latency",
                                                        "load_hit_hw_prefetch",
                                                        "store_forward_blocked",
                                                        "address_alias",
                                                        "l1i_miss",
                                                        "l2i_miss",
                                                        "l3i_hit",
                                                        "l3i_miss",
                                                        "itlb_miss",
                                                        "stlb_instruction_miss",
                                                        "front_end_resteer",
                                                        "dsb_miss",
                                                        "dsb_to_mite",
                                                        "ms_switch",
                                                        "machine_clear",
                                                        "memory_ordering_clear",
                                                        "self_modifying_clear",
                                                        "tx_start",
                                                        "tx_commit",
                                                        "tx_abort",
                                                        "tx_abort_conflict",
                                                        "tx_abort_capacity",
                                                        "tx_abort_explicit",
                                                        "tx_abort_unfriendly",
                                                        "tx_abort_event",
                                                        "lbr_insert"};
static_assert(signal_names.size() == static_cast<std::size_t>(Signal::count_));
static_assert(signal_names[static_cast<unsigned>(Signal::branch)] == "branch" &&
              signal_names[static_cast<unsigned>(Signal::load_dram)] == "load_dram" &&
              signal_names[static_cast<unsigned>(Signal::machine_clear)] == "machine_clear" &&
              signal_names.back() == "lbr_insert");

/// In the order of Quantity.
constexpr std::array<std::string_view, 47> quantity_names{"none",
                                                          "uops",
                                                          "cycles",
                                                          "reference_cycles",
                                                          "slots",
                                                          "slots_bad_speculation",
                                                          "slots_branch_mispredict",
                                                          "slots_frontend",
                                                          "slots_fetch_latency",
                                                          "slots_backend",
                                                          "slots_memory",
                                                          "slots_heavy",
                                                          "stall_cycles",
                                                          "stall_cycles_memory",
                                                          "stall_cycles_l1_miss",
                                                          "stall_cycles_l2_miss",
                                                          "stall_cycles_l3_miss",
                                                          "recovery_cycles",
                                                          "dsb_cycles_any",
                                                          "dsb_cycles_ok",
                                                          "mite_cycles_any",
                                                          "mite_cycles_ok",
                                                          "ms_cycles",
                                                          "lsd_cycles_any",
                                                          "lsd_cycles_ok",
                                                          "dsb_to_mite_cycles",
                                                          "l1i_stall_cycles",
                                                          "length_stall_cycles",
                                                          "resteer_cycles",
                                                          "starved_cycles",
                                                          "page_walks_load",
                                                          "page_walks_store",
                                                          "page_walks_instruction",
                                                          "page_walk_cycles",
                                                          "l2_requests",
                                                          "l2_misses",
                                                          "llc_references",
                                                          "llc_misses",
                                                          "l1d_replacements",
                                                          "l2_lines_in",
                                                          "l2_prefetches",
                                                          "l2_prefetch_misses",
                                                          "uops_dsb",
                                                          "uops_mite",
                                                          "uops_ms",
                                                          "uops_lsd",
                                                          "slots_fetch_bandwidth"};
static_assert(quantity_names.size() == static_cast<std::size_t>(Quantity::count_));
static_assert(quantity_names[static_cast<unsigned>(Quantity::slots)] == "slots" &&
              quantity_names[static_cast<unsigned>(Quantity::recovery_cycles)] == "recovery_cycles" &&
              quantity_names.back() == "slots_fetch_bandwidth");

std::size_t find(std::span<const std::string_view> names, std::string_view name, std::string_view what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw Misuse(fmt::format("no {} '{}'{}", what, name, did_you_mean(name, names)));
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

Signal signal_called(std::string_view name) {
  return static_cast<Signal>(find(signal_names, name, "signal"));
}

Quantity quantity_called(std::string_view name) {
  return static_cast<Quantity>(find(quantity_names, name, "quantity"));
}

}  // namespace pmusim::capi

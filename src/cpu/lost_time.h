// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_LOST_TIME_H
#define PMUSIM_CPU_LOST_TIME_H

#include <algorithm>
#include <array>

#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// What cycles and slots were lost to: the core model's account, which recorded time does not tell.
inline constexpr std::array lost_time{Quantity::slots_bad_speculation,
                                      Quantity::slots_branch_mispredict,
                                      Quantity::slots_frontend,
                                      Quantity::slots_fetch_latency,
                                      Quantity::slots_backend,
                                      Quantity::slots_memory,
                                      Quantity::stall_cycles,
                                      Quantity::stall_cycles_memory,
                                      Quantity::stall_cycles_l1_miss,
                                      Quantity::stall_cycles_l2_miss,
                                      Quantity::stall_cycles_l3_miss,
                                      Quantity::recovery_cycles,
                                      Quantity::dsb_cycles_any,
                                      Quantity::dsb_cycles_ok,
                                      Quantity::mite_cycles_any,
                                      Quantity::mite_cycles_ok,
                                      Quantity::ms_cycles,
                                      Quantity::lsd_cycles_any,
                                      Quantity::lsd_cycles_ok,
                                      Quantity::dsb_to_mite_cycles,
                                      Quantity::l1i_stall_cycles,
                                      Quantity::itlb_stall_cycles,
                                      Quantity::length_stall_cycles,
                                      Quantity::resteer_cycles,
                                      Quantity::clear_resteer_cycles,
                                      Quantity::starved_cycles,
                                      Quantity::slots_fetch_bandwidth};

/// What is under way in how many cycles, and when uops are dispatched and executed, is the core model's as
/// well.
constexpr bool is_lost_time(Quantity q) {
  constexpr std::array under_way{Quantity::data_reads_under_way,      Quantity::memory_reads_under_way,
                                 Quantity::ownership_reads_under_way, Quantity::code_reads_under_way,
                                 Quantity::all_data_reads_under_way,  Quantity::l1d_misses_under_way};
  return std::ranges::find(lost_time, q) != lost_time.end() ||
         std::ranges::find(under_way, q) != under_way.end() || is_cycle_total(q);
}

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#include "why/counts.h"

namespace pmusim::why {

namespace {

constexpr std::array<std::string_view, columns> names{"cycles",
                                                      "mispredict_cycles",
                                                      "clear_cycles",
                                                      "load_cycles",
                                                      "l1_miss_cycles",
                                                      "l2_miss_cycles",
                                                      "l3_miss_cycles",
                                                      "bad_speculation_slots",
                                                      "frontend_slots",
                                                      "backend_slots",
                                                      "memory_slots",
                                                      "store_buffer_slots",
                                                      "blocked_cycles",
                                                      "alias_cycles",
                                                      "split_cycles",
                                                      "walk_cycles",
                                                      "tlb_cycles",
                                                      "instructions",
                                                      "branches",
                                                      "mispredicts",
                                                      "loads",
                                                      "stores",
                                                      "l1_misses",
                                                      "l2_misses",
                                                      "l3_misses",
                                                      "store_l1_misses",
                                                      "dtlb_misses",
                                                      "load_walks",
                                                      "store_walks",
                                                      "forward_blocks",
                                                      "address_aliases",
                                                      "split_loads",
                                                      "split_stores",
                                                      "locked",
                                                      "divisions",
                                                      "machine_clears",
                                                      "l1i_misses",
                                                      "itlb_misses",
                                                      "uop_cache_misses",
                                                      "resteers"};

}  // namespace

std::string_view name_of(Column column) { return names[static_cast<std::size_t>(column)]; }

}  // namespace pmusim::why

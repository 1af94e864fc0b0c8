// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_TABLE_COLUMNS_H
#define PMUSIM_SRC_WHY_TABLE_COLUMNS_H

#include <optional>

#include "why/counts.h"

namespace pmusim::why {

/// A column of the tables, left out where it is empty everywhere.
struct TableColumn {
  const char* head;
  Column of;
  std::optional<Column> and_of = std::nullopt;
  bool slots = false;  ///< shown as a share of the slots
  u64 value(const Counts& c) const { return c[of] + (and_of ? c[*and_of] : 0); }
};

inline constexpr TableColumn table_columns[] = {
    {"Mispr", Column::mispredicts},
    {"L1mis", Column::l1_misses},
    {"L2mis", Column::l2_misses},
    {"L3mis", Column::l3_misses},
    {"TLB", Column::dtlb_misses},
    {"Walk", Column::load_walks, Column::store_walks},
    {"StFwd", Column::forward_blocks},
    {"4Kali", Column::address_aliases},
    {"Split", Column::split_loads, Column::split_stores},
    {"Lock", Column::locked},
    {"Div", Column::divisions},
    {"Clear", Column::machine_clears},
    {"L1I", Column::l1i_misses},
    {"Front", Column::frontend_slots, std::nullopt, true},
    {"Back", Column::backend_slots, std::nullopt, true},
    {"Bad", Column::bad_speculation_slots, std::nullopt, true},
};

}  // namespace pmusim::why

#endif

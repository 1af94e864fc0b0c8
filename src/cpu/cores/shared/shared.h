// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_SHARED_SHARED_H
#define PMUSIM_SRC_CPU_CORES_SHARED_SHARED_H

#include <algorithm>

#include "branches.h"
#include "computation.h"
#include "front_end.h"
#include "memory.h"
#include "outstanding.h"
#include "transactions.h"
#include "uops.h"

namespace pmusim::event_rows {

namespace shared {
inline constexpr auto all = join(uops, front_end, branches, outstanding, computation, transactions, memory);
static_assert(std::ranges::all_of(all, &SharedRow::is_sound), "a core is in no line, or behind the last");
}  // namespace shared

/// The shared rows of one core, for its table.
template <Microarchitecture Core>
constexpr auto shared_rows() {
  constexpr auto is_of_core = [](const shared::SharedRow& r) { return r.is_of(Core); };
  std::array<EventDefinition, std::ranges::count_if(shared::all, is_of_core)> rows{};
  std::size_t next = 0;
  for (const shared::SharedRow& r : shared::all)
    if (is_of_core(r)) rows[next++] = r.row;
  return rows;
}

}  // namespace pmusim::event_rows

#endif

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

/// The shared rows of one core, for its table.
template <Microarchitecture Core>
constexpr auto shared_rows() {
  constexpr auto all = [] {
    using namespace shared;
    return join(uops, front_end, branches, outstanding, computation, transactions, memory);
  }();
  static_assert(std::ranges::all_of(all, &shared::SharedRow::is_sound),
                "a core is in no line, or behind the last");
  constexpr auto size =
      static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& r) { return r.is_of(Core); }));
  std::array<EventDefinition, size> rows{};
  std::size_t next = 0;
  for (const auto& r : all)
    if (r.is_of(Core)) rows[next++] = r.row;
  return rows;
}

}  // namespace pmusim::event_rows

#endif

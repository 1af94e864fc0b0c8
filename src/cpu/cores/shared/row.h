// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_CORES_SHARED_ROW_H
#define PMUSIM_SRC_CPU_CORES_SHARED_ROW_H

#include "../event_rows.h"

/// Events that several cores have under one name and one code, each written down once, with the cores from
/// the first to the last that have it so.
namespace pmusim::event_rows::shared {

using enum Microarchitecture;

/// Big cores from Nehalem to Redwood Cove and small ones from Goldmont to Tremont follow each other as they
/// do in `Microarchitecture`; those before stand alone.
struct SharedRow {
  Microarchitecture first, last;
  EventDefinition row;
  constexpr bool is_of(Microarchitecture core) const { return first <= core && core <= last; }
};

}  // namespace pmusim::event_rows::shared

#endif

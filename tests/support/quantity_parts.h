// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TESTS_SUPPORT_QUANTITY_PARTS_H
#define PMUSIM_TESTS_SUPPORT_QUANTITY_PARTS_H

#include <algorithm>
#include <span>

#include "pmusim/cpu/model.h"

namespace pmusim::test {

/// Quantities that were drawn, as a core tells them: a part that an event leaves out (EventRule::minus) is
/// less than its whole by `less` at least. A part may have parts itself.
inline void keep_parts_within(Quantities& quantities, std::span<const EventDefinition> events, u32 less = 0) {
  for (int pass = 0; pass < 2; ++pass)
    for (const EventDefinition& event : events) {
      if (event.rule.minus == Quantity::none) continue;
      const u32 whole = quantities[static_cast<unsigned>(event.rule.quantity)];
      u32& part = quantities[static_cast<unsigned>(event.rule.minus)];
      part = std::min(part, whole - std::min(whole, less));
    }
}

}  // namespace pmusim::test

#endif

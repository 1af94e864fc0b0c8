// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_CYCLE_VIEWS_H
#define PMUSIM_CPU_CYCLE_VIEWS_H

#include <optional>

#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// What a counter asks of a cycle.
struct CycleCondition {
  unsigned cmask = 0;        ///< so many occurrences
  bool inv = false;          ///< or fewer
  bool edge = false;         ///< and not in the cycle before
  unsigned issue_width = 0;  ///< of the core: as many uops as a source can deliver at most
};

/// What an event select's CMASK, INV and EDGE ask of a cycle.
CycleCondition cycle_condition(u64 event_select, unsigned issue_width);

/// What a counter with a CMASK counts of an event whose occurrences are not those of the retirement's cycle
/// (uops that were dispatched or executed, requests under way): the cycles that have as many of them, or with
/// INV fewer. The core tells these cycles as quantities of their own, and beginnings of them (EDGE) as
/// signals. Nothing for other events, and for numbers of which the core does not tell in how many cycles
/// there were so many.
std::optional<EventRule> cycles_with(const EventRule& rule, const CycleCondition& condition);

/// Whether a cycle's occurrences of the event can be compared with a CMASK only where cycles_with() says so.
bool differs_from_cycles(const EventRule& rule);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_CORE_LEVEL_H
#define PMUSIM_CPU_CORE_LEVEL_H

#include <span>
#include <string_view>

#include "pmusim/base/bits.h"
#include "pmusim/base/error.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// How much of a core a replay has (docs/core-model.md). The less there is, the faster it goes, and the fewer
/// events it can count.
enum class CoreLevel : u8 {
  interval,  ///< the whole model: pipeline, caches, predictors
  simple,    ///< latencies within a block and branch predictors; no caches, no account of lost slots
  flat,      ///< an instruction in every cycle, every branch predicted
};

/// "interval", "simple", "flat": in the order above.
std::span<const std::string_view> core_level_names();
std::string_view name_of(CoreLevel level);
/// Errors: any other name.
[[nodiscard]] Result<CoreLevel, Error> find_core_level(std::string_view name);

/// Whether a core of this level knows how often an event occurs, counted with these bits of an event select
/// (CMASK, INV, EDGE) and this value of its extra register. A counter of what it does not know stays at 0, as
/// a rule.
bool is_known_at(CoreLevel core, const EventDefinition& event, u64 event_select, u64 extra);

/// Whether the event counts what cycles were lost to, or what fell into the same cycle.
bool needs_modelled_time(const EventDefinition& event, u64 event_select, u64 extra);

}  // namespace pmusim

#endif

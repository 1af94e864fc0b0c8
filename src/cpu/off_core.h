// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_OFF_CORE_H
#define PMUSIM_SRC_CPU_OFF_CORE_H

#include "cpu/core_facts.h"

namespace pmusim {

/// What an off-core event counts with `value` in its register (SDM vol. 3, off-core response event encoding):
/// each request bit adds a kind of request, each response bit adds answers. Nothing where no request of a
/// program without prefetches gets such an answer on a lone core.
std::optional<EventRule> off_core_rule(const OffCoreLayout& layout, u64 value);

/// Whether it asks for some answers of other cores about lines of the last-level cache, and not for others:
/// beside other cores these are not told apart.
bool chooses_snoops(const OffCoreLayout& layout, u64 value);

/// Why a replay cannot count all that the value asks for, or nothing. Hardware that is programmed with such a
/// value all the same counts what `off_core_rule` says.
std::string_view why_not_counted(const OffCoreLayout& layout, u64 value);

}  // namespace pmusim

#endif

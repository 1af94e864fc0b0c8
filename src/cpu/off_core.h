#ifndef PMUSIM_SRC_CPU_OFF_CORE_H
#define PMUSIM_SRC_CPU_OFF_CORE_H

#include "pmusim/cpu/core_facts.h"

namespace pmusim {

/// Whether some core counts off-core responses with this event code. Quick, as every write of an event select
/// asks; which core a model is takes a search.
bool may_be_off_core_event(u8 event);

/// Whether the event counts what an off-core register (OFFCORE_RSP_0, OMR_0 to 3) selects.
bool is_off_core_event(const OffCoreLayout& layout, u8 event, u16 umask);
/// The same event, which exists twice, through OFFCORE_RSP_1.
bool uses_second_register(const OffCoreLayout& layout, u8 event, u16 umask);

/// What such an event counts with `value` in its register (SDM vol. 3, off-core response event encoding):
/// each request bit adds a kind of request, each response bit adds answers. Nothing where no request of a
/// program without prefetches gets such an answer on a lone core.
std::optional<EventRule> off_core_rule(const OffCoreLayout& layout, u64 value);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_VENDOR_H
#define PMUSIM_SRC_EVENTS_VENDOR_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim::events {

/// A vendor event as an event select value.
struct VendorEvent {
  std::string name;         ///< "BR_MISP_RETIRED.ALL_BRANCHES"
  u64 config = 0;           ///< event, umask, EDGE, INV, CMASK
  u64 config1 = 0;          ///< value of its extra register, 0 none
  std::string description;  ///< libpfm4's words, in library_events(); empty if it has none
};

/// The vendor event with that name, in any case, with a dot or a colon between event and umask: first from
/// the model's own table, then from the vendor's lists (vendor_lists.h), then from libpfm4. The values of
/// off-core responses are the lists' before all.
std::optional<VendorEvent> find_vendor_event(const CpuModel& model, std::string_view name);

/// Every event of libpfm4's table for the model's PMU, and none if libpfm4 has no such PMU. Off-core
/// responses, hundreds of combinations of one event, are left out.
std::vector<VendorEvent> library_events(const CpuModel& model);

/// The names of the vendor's list that neither the model's table nor libpfm4 has with the list's encoding,
/// without off-core responses.
std::vector<VendorEvent> listed_events(const CpuModel& model);

/// libpfm4's words for an event of the model's table: those of its unit mask, or of an event without any.
/// From another core's event of that name where libpfm4 has no table of the model's. Empty if it has none.
std::string describe(const CpuModel& model, std::string_view name);

/// The row of a model's table as an event select value (bits as in IA32_PERFEVTSEL). A fixed counter's event
/// has the code that perf resolves its name to: that of the general counters, which drivers place on the
/// fixed one too, or event 00 where there is none.
u64 event_select_bits(const EventDefinition& row);

}  // namespace pmusim::events

#endif

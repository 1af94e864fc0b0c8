// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_LISTING_H
#define PMUSIM_SRC_EVENTS_LISTING_H

#include <string>
#include <vector>

#include "pmusim/cpu/model.h"

namespace pmusim::events {

/// One line of a model's list of events.
struct ListedEvent {
  std::string name;
  std::string counts;       ///< of a name of perf's: the vendor event that it counts here; empty otherwise
  u64 config = 0;           ///< event select bits
  u64 extra = 0;            ///< value of the extra register, 0 none
  bool modelled = true;     ///< false: the part has it, no table of the core model does
  std::string refusal;      ///< why a replay cannot count it, in a sentence; empty if it can
  bool pebs = false;        ///< can be sampled precisely
  std::string description;  ///< libpfm4's words, if it has some
};

enum class Listed : u8 { modelled, all };

/// The names of perf's that mean something on this model, the model's own events, and with `Listed::all` what
/// libpfm4 knows beyond them.
std::vector<ListedEvent> list_events(const CpuModel& model, Listed listed);

/// Whether PEBS can sample the event (SDM vol. 3, PEBS): any event where PEBS covers all counters,
/// those that instructions raise at retirement on other parts, and short lists on the oldest.
bool is_pebs_event(const CpuModel& model, const EventDefinition& definition);

/// The event as perf writes it: "cpu/event=0xc4,umask=0x20,cmask=1/".
std::string perf_terms(u64 config, u64 extra, SelectLayout layout = SelectLayout::modifiers);

}  // namespace pmusim::events

#endif

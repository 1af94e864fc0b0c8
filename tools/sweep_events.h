// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_SWEEP_EVENTS_H
#define PMUSIM_TOOLS_SWEEP_EVENTS_H

#include <string>
#include <string_view>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/events/parser.h"

namespace pmusim::tools {

/// One event of a list, whether or not a model has it.
struct SweptEvent {
  std::string name;
  std::string lacking{};  ///< where the model does not have it: a sentence that says so

  bool known() const { return lacking.empty(); }
};

/// A list of events as one model has it.
struct EventList {
  std::vector<SweptEvent> all;             ///< as listed
  std::vector<events::EventGroup> groups;  ///< those that the model knows, as they are counted
};

/// Of a group that the model knows in part, the known events are counted together. Errors: an event that no
/// model has, a list that is none.
Result<EventList, Error> events_on(const CpuModel& model, std::string_view list);

}  // namespace pmusim::tools

#endif

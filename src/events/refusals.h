// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_REFUSALS_H
#define PMUSIM_SRC_EVENTS_REFUSALS_H

#include <string>
#include <string_view>

#include "pmusim/cpu/model.h"

namespace pmusim::events {

/// Why no replay counts an event of the vendor's that no table has, by its name (`EVENT.UMASK`): the rest of
/// a sentence that begins "X exists on Y, but". Empty where nothing is known but that no rule fits.
std::string_view why_not_modelled(std::string_view name);

/// The whole sentence for such an event of a model.
std::string refusal_of_unmodelled(const CpuModel& model, std::string_view name);

/// Why the core model never produces what a rule needs, in the same form; empty where it can.
std::string_view why_never_reported(const EventRule& rule, const CpuModel& model);

}  // namespace pmusim::events

#endif

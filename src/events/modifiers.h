// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_MODIFIERS_H
#define PMUSIM_SRC_EVENTS_MODIFIERS_H

#include <string_view>

#include "pmusim/events/parser.h"

namespace pmusim::events {

/// Applies perf's modifier letters to an event. A group's modifiers come after the event's own and add to
/// them:
/// `{a:u}:k` counts both levels. Errors name the letter.
[[nodiscard]] Result<Done, Error> apply_modifiers(ParsedEvent& event, std::string_view letters,
                                                  const CpuModel& model);

/// Whether the text could be modifiers at all (each character is a letter that perf knows).
bool looks_like_modifiers(std::string_view text);

}  // namespace pmusim::events

#endif

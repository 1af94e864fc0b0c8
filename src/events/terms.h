// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_TERMS_H
#define PMUSIM_SRC_EVENTS_TERMS_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pmusim/events/parser.h"

namespace pmusim::events {

/// One `name=value` or `name` of a term list.
struct Term {
  std::size_t position = 0;  ///< in the event list
  std::string_view name;
  std::optional<std::string_view> value;
};

/// Splits what stands between the slashes at commas outside of quotes.
std::vector<Term> split_terms(std::string_view text, std::size_t position);

/// A term of perf's, or of some model's PMU.
bool is_term(std::string_view name);

/// Applies one term of the event's PMU on `model`; a generic event takes none that is part of the event
/// select. `ratio_to_prev` receives the value of that term, which needs the previous event. Errors are
/// sentences without a position.
[[nodiscard]] Result<Done, Error> apply_term(ParsedEvent& event, const Term& term, const CpuModel& model,
                                             std::optional<double>& ratio_to_prev);

/// The names of all terms that a PMU of the model has, for suggestions.
std::vector<std::string_view> term_names(const CpuModel& model,
                                         u32 type = static_cast<u32>(perf::EventType::raw));

}  // namespace pmusim::events

#endif

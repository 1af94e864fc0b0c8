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

/// What a term list may change.
enum class TermScope : u8 {
  pmu,              ///< cpu/.../: the whole event select
  pmu_with_umask2,  ///< the same on parts whose umask has a second byte (event select bits 47:40)
  named_event,      ///< behind a generic name: everything but the event select
};

/// A term that is known under `scope`, or an alias of an event for `scope` pmu.
bool is_term(std::string_view name);

/// Applies one term. `ratio_to_prev` receives the value of that term, which needs the previous event. Errors
/// are sentences without a position.
[[nodiscard]] Result<Done, Error> apply_term(ParsedEvent& event, const Term& term, TermScope scope,
                                             std::optional<double>& ratio_to_prev);

/// The names of all terms, for suggestions.
std::vector<std::string_view> term_names();

}  // namespace pmusim::events

#endif

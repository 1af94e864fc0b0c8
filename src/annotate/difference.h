// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_DIFFERENCE_H
#define PMUSIM_SRC_ANNOTATE_DIFFERENCE_H

#include <optional>
#include <string>
#include <vector>

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// A function in two profiles: its shares of an event, in percent.
struct SymbolChange {
  std::string module;  ///< the file's name without its folder: builds stand in different ones
  std::string symbol;
  Weight before, after;
  std::optional<double> before_percent, after_percent;  ///< nothing: no samples
  double delta() const { return after_percent.value_or(0) - before_percent.value_or(0); }
};

/// What became of an event that two profiles have.
struct EventChange {
  std::string event;
  Weight before, after;
  std::vector<SymbolChange> symbols;  ///< largest change first, whichever way
};

/// For each event of both, by name, in the order of `before`. Functions are the same if their names and those
/// of their modules' files are.
std::vector<EventChange> changes_between(const Report& before, const Report& after);

}  // namespace pmusim::annotate

#endif

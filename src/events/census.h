// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_EVENTS_CENSUS_H
#define PMUSIM_SRC_EVENTS_CENSUS_H

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pmusim::events {

/// Of all events that a model's table and libpfm4 list for it, how many a replay counts.
struct ModelCensus {
  std::string_view model;
  unsigned listed = 0, counted = 0;
};

/// Why the others are refused, and how often: events of all models together.
struct Census {
  std::vector<ModelCensus> models;
  std::map<std::string, unsigned> refused;  ///< by the sentence behind "but"
};

Census take_census();

/// The two tables of docs/events.md.
std::string census_tables(const Census& census);

}  // namespace pmusim::events

#endif

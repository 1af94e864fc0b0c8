// SPDX-License-Identifier: MIT
#include "why/topdown.h"

#include "why/report.h"

namespace pmusim::why {

Topdown topdown_of(const Report& report, TopdownTree tree, std::span<const u32> functions) {
  Topdown topdown{.problem = "", .tree = std::move(tree), .parts = {}};
  const std::size_t events = topdown.tree->events().size();
  const auto add = [&](std::optional<u32> function, EventCounts counted) {
    counted.occurrences.resize(events);  // of code in which no block begins there are none
    std::vector<EventTotal> totals = function
                                         ? topdown.tree->totals_of_part(counted.occurrences, counted.cycles)
                                         : topdown.tree->totals_of_whole(counted.occurrences, counted.cycles);
    std::vector<TopdownTree::Value> values = topdown.tree->values(totals);
    topdown.parts.push_back({.function = function,
                             .slots = counted.cycles * report.width,
                             .totals = std::move(totals),
                             .values = std::move(values)});
  };
  add(std::nullopt, report.total_events);
  for (const u32 function : functions) add(function, report.functions[function].events);
  return topdown;
}

}  // namespace pmusim::why

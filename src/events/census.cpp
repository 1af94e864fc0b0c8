// SPDX-License-Identifier: MIT
#include "events/census.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/listing.h"
#include "pmusim/cpu/model.h"

namespace pmusim::events {
namespace {

/// "X exists on Y, but ..." without the X and the Y; sentences of another form without the name that they
/// begin with.
std::string reason_of(const ListedEvent& event) {
  constexpr std::string_view but = ", but ";
  const std::size_t at = event.refusal.find(but);
  return at != std::string::npos ? event.refusal.substr(at + but.size())
                                 : event.refusal.substr(event.refusal.find(' ') + 1);
}

ModelCensus count(const CpuModel& model, std::map<std::string, unsigned>& refused) {
  ModelCensus census{.model = model.name};
  for (const ListedEvent& event : list_events(model, Listed::all)) {
    if (!event.counts.empty()) continue;  // a name of perf's for one of them
    ++census.listed;
    if (event.refusal.empty())
      ++census.counted;
    else
      ++refused[reason_of(event)];
  }
  return census;
}

}  // namespace

Census take_census() {
  Census census;
  for (const CpuModel& model : cpu_models()) census.models.push_back(count(model, census.refused));
  return census;
}

std::string census_tables(const Census& census) {
  std::string text = "| Model | Listed | Counted | Refused |\n|---|---|---|---|\n";
  ModelCensus all;
  for (const ModelCensus& m : census.models) {
    text += fmt::format("| {} | {} | {} | {} |\n", m.model, m.listed, m.counted, m.listed - m.counted);
    all.listed += m.listed;
    all.counted += m.counted;
  }
  text += fmt::format("| all | {} | {} | {} |\n\n| Refused because | Events |\n|---|---|\n", all.listed,
                      all.counted, all.listed - all.counted);
  std::vector<std::pair<std::string, unsigned>> refused(census.refused.begin(), census.refused.end());
  std::ranges::stable_sort(refused, std::greater(), &std::pair<std::string, unsigned>::second);
  for (const auto& [reason, events] : refused) text += fmt::format("| {} | {} |\n", reason, events);
  return text;
}

}  // namespace pmusim::events

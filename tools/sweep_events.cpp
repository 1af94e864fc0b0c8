// SPDX-License-Identifier: MIT
#include "sweep_events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pmusim::tools {

namespace {

using Groups = std::vector<events::EventGroup>;

/// Parts between commas, but for those within braces and within the slashes of terms.
std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool terms = false, quoted = false;
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char c = list[at];
    if (terms && c == '\'') quoted = !quoted;
    if (c == '/' && !quoted) terms = !terms;
    if (terms) continue;
    depth += (c == '{') - (c == '}');
    if (c != ',' || depth != 0) continue;
    parts.push_back(list.substr(begin, at - begin));
    begin = at + 1;
  }
  parts.push_back(list.substr(begin));
  return parts;
}

/// "{a,b}:u", or one event.
struct Part {
  std::vector<std::string_view> members;
  std::string_view modifiers;  ///< with their colon

  std::string with(const std::vector<std::string_view>& some) const {
    return fmt::format("{{{}}}{}", fmt::join(some, ","), modifiers);
  }
};

Part part_of(std::string_view text) {
  const std::size_t open = text.find_first_not_of(" \t\r\n"), close = text.rfind('}');
  if (open == std::string_view::npos || text[open] != '{' || close == std::string_view::npos)
    return {{text}, {}};
  return {split_list(text.substr(open + 1, close - open - 1)), text.substr(close + 1)};
}

/// What an event is called where it is known.
Result<std::string, Error> name_on(const CpuModel& model, const std::string& event) {
  auto groups = events::parse_events(event, model);
  if (!groups.ok()) return Failure(groups.error());
  return std::move(groups->front().events.front().name);
}

std::optional<std::string> name_on_any_model(const std::string& event) {
  for (const CpuModel& model : cpu_models())
    if (auto name = name_on(model, event); name.ok()) return std::move(name).value();
  return std::nullopt;
}

void add(EventList& list, Groups groups) {
  for (events::EventGroup& group : groups) list.groups.push_back(std::move(group));
}

/// False: no model knows one of its events.
bool add_known(EventList& list, const CpuModel& model, const Part& part) {
  std::vector<std::string_view> known;
  for (const std::string_view member : part.members) {
    const std::string alone = part.with({member});
    if (auto name = name_on(model, alone); name.ok()) {
      known.push_back(member);
      list.all.push_back({std::move(name).value()});
    } else if (auto other = name_on_any_model(alone)) {
      list.all.push_back({std::move(*other), name.error().message});
    } else {
      return false;
    }
  }
  if (known.empty()) return true;
  auto groups = events::parse_events(part.with(known), model);
  if (groups.ok()) add(list, std::move(groups).value());
  return groups.ok();
}

}  // namespace

Result<EventList, Error> events_on(const CpuModel& model, std::string_view list) {
  auto whole = events::parse_events(list, model);
  EventList result;
  if (whole.ok()) {
    for (const events::EventGroup& group : *whole)
      for (const events::ParsedEvent& event : group.events) result.all.push_back({event.name});
    result.groups = std::move(whole).value();
    return result;
  }
  for (const std::string_view text : split_list(list))
    if (!add_known(result, model, part_of(text))) return Failure(whole.error());
  return result;
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include "model_difference.h"

#include <fmt/format.h>

#include <algorithm>

namespace pmusim::tools {
namespace {

using Json = nlohmann::ordered_json;

/// The event select as perf's terms.
std::string encoding_of(const EventDefinition& event) {
  std::string terms = fmt::format("event={:#x},umask={:#x}", event.event, event.umask);
  if (event.cmask != 0) terms += fmt::format(",cmask={}", event.cmask);
  if (event.inv) terms += ",inv";
  if (event.edge) terms += ",edge";
  if (event.extra != 0) terms += fmt::format(",extra={:#x}", event.extra);
  return terms;
}

/// Lists have no common order: what stands in them gets a name to be compared by.
Json by_name(Json facts, const CpuModel& model) {
  Json leaves = Json::object(), events = Json::object();
  for (Json leaf : facts["cpuid"]) {
    const std::string name =
        fmt::format("{}.{}", leaf["leaf"].get<std::string>(), leaf["subleaf"].get<u32>());
    leaf.erase("leaf");
    leaf.erase("subleaf");
    leaves[name] = leaf;
  }
  for (const EventDefinition& event : model.events) events[std::string(event.name)] = encoding_of(event);
  facts["cpuid"] = leaves;
  facts["events"] = events;
  return facts;
}

std::string dotted(std::string path) {
  std::ranges::replace(path, '/', '.');
  return path.substr(1);
}

std::string text_of(const Json& value) {
  return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::vector<ModelDifference> differences(const CpuModel& first, Json facts_of_first, const CpuModel& second,
                                         Json facts_of_second) {
  const Json a = by_name(std::move(facts_of_first), first).flatten();
  const Json b = by_name(std::move(facts_of_second), second).flatten();
  std::vector<ModelDifference> found;
  for (const auto& [path, value] : a.items()) {
    const Json other = b.value(path, Json());
    if (value != other) found.push_back({dotted(path), value, other});
  }
  for (const auto& [path, value] : b.items())
    if (!a.contains(path) && !value.is_null()) found.push_back({dotted(path), Json(), value});
  return found;
}

std::string table_of(const std::vector<ModelDifference>& differences, const CpuModel& first,
                     const CpuModel& second) {
  std::size_t widest = 4, first_widest = first.name.size();
  for (const ModelDifference& d : differences) {
    widest = std::max(widest, d.what.size());
    first_widest = std::max(first_widest, text_of(d.first).size());
  }
  std::string text =
      fmt::format("{:<{}}  {:<{}}  {}\n", "FACT", widest, first.name, first_widest, second.name);
  for (const ModelDifference& d : differences)
    text += fmt::format("{:<{}}  {:<{}}  {}\n", d.what, widest, text_of(d.first), first_widest,
                        text_of(d.second));
  return text;
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include "stat_file.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "annotate/significance.h"
#include "base/input_file.h"
#include "json_file.h"

namespace pmusim::tools {

namespace {

using nlohmann::ordered_json;

/// Ends the command where something of a file is missing, or is of another type.
template <class T>
T member(const JsonFile& file, const ordered_json& of, const char* name, const char* expected) {
  try {
    return of.at(name).get<T>();
  } catch (const ordered_json::exception&) {
    file.refuse(fmt::format("has no {}; expected {}, as 'pmusim stat --json' prints it", name, expected));
  }
}

std::vector<double> runs_of(const JsonFile& file, const ordered_json& event) {
  if (!event.contains("runs")) return {};
  return member<std::vector<double>>(file, event, "runs", "a list of counts");
}

void add_event(const JsonFile& file, const ordered_json& event, annotate::ComparedSide& side) {
  if (event.contains("value") && event["value"].is_null()) return;  // not supported
  const double value = member<double>(file, event, "value", "a count");
  if (value < 0 || value > 0x1p63) file.refuse(fmt::format("has a value of {}; expected a count", value));
  const auto period = static_cast<u64>(std::llround(value));
  side.report.events.push_back(
      {member<std::string>(file, event, "event", "the name of an event"), {1, period}});
  side.runs.push_back(runs_of(file, event));
}

}  // namespace

bool is_stat_file(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file.ok()) return false;
  std::array<char, 64> begin{};
  const auto bytes = file->read_start(std::as_writable_bytes(std::span(begin)));
  if (!bytes.ok()) return false;
  const std::string_view text(begin.data(), *bytes);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

annotate::ComparedSide read_stat_file(const std::string& path) {
  const JsonFile file = JsonFile::read(path);
  annotate::ComparedSide side;
  side.name = fmt::format("{} on {}", member<std::string>(file, file.content, "trace", "the name of a trace"),
                          member<std::string>(file, file.content, "model", "the name of a model"));
  for (const ordered_json& event :
       member<ordered_json::array_t>(file, file.content, "events", "a list of events"))
    add_event(file, event, side);
  return side;
}

}  // namespace pmusim::tools

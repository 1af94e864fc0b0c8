// SPDX-License-Identifier: MIT
#include "sweep_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>

#include "json_file.h"
#include "pmusim/cpu/core_parameters.h"
#include "pmusim/trace/trace.h"

namespace pmusim::tools {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr std::size_t most_jobs = 100'000;

constexpr std::array<std::string_view, 7> known_keys{"traces", "models", "events",   "metrics",
                                                     "core",   "start",  "core_sets"};

JsonFile parse_sweep(const std::string& path) {
  JsonFile file = JsonFile::read(path);
  if (!file.content.is_object()) file.refuse("expected an object with \"traces\", \"models\" and \"events\"");
  for (const auto& [key, value] : file.content.items())
    if (std::ranges::find(known_keys, key) == known_keys.end())
      file.refuse(fmt::format("\"{}\": expected one of {}", key, fmt::join(known_keys, ", ")));
  return file;
}

/// Names become parts of file names.
bool is_plain_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '@';
  };
  return !name.empty() && std::ranges::all_of(name, plain);
}

std::string plain_name(const JsonFile& file, const std::string& name) {
  if (!is_plain_name(name))
    file.refuse(fmt::format("\"{}\": expected a name of letters, digits, '_', '-', '+' and '@'", name));
  return name;
}

/// "a list of strings" under `key`, not empty and without repetition.
std::vector<std::string> strings(const JsonFile& file, const char* key) {
  const auto found = file.content.find(key);
  if (found == file.content.end() || !found->is_array() || found->empty())
    file.refuse(fmt::format("\"{}\": expected a list of strings, with one at least", key));
  std::vector<std::string> values;
  for (const ordered_json& value : *found) {
    if (!value.is_string()) file.refuse(fmt::format("\"{}\": {}: expected a string", key, value.dump()));
    values.push_back(value.get<std::string>());
  }
  if (std::set(values.begin(), values.end()).size() != values.size())
    file.refuse(fmt::format("\"{}\": names something twice", key));
  return values;
}

struct NamedText {
  std::string name, text;
};

std::vector<NamedText> event_sets(const JsonFile& file) {
  const auto found = file.content.find("events");
  if (found == file.content.end() && file.content.contains("metrics")) return {};
  if (found == file.content.end() || !found->is_object() || found->empty())
    file.refuse("\"events\": expected an object of names and event lists, with one at least");
  std::vector<NamedText> sets;
  for (const auto& [name, list] : found->items()) {
    if (!list.is_string() || list.get<std::string>().empty())
      file.refuse(fmt::format("\"events\": \"{}\": expected a list of events as stat -e takes it", name));
    if (name == metrics_set && file.content.contains("metrics"))
      file.refuse("\"events\": \"metrics\": is what the set of metrics is called; take another name");
    sets.push_back({plain_name(file, name), list.get<std::string>()});
  }
  return sets;
}

/// As -M of stat takes them; empty: none are wanted.
std::string metrics_of(const JsonFile& file) {
  if (!file.content.contains("metrics")) return "";
  const std::string list = fmt::format("{}", fmt::join(strings(file, "metrics"), ","));
  if (const auto found = find_metrics(list, cpu_models().front(), MissingEvents::kept); !found.ok())
    file.refuse(fmt::format("\"metrics\": {}", found.error().message));
  return list;
}

/// A trace is called by its file's name up to the first dot.
std::vector<NamedText> traces(const JsonFile& file) {
  std::vector<NamedText> named;
  for (const std::string& trace : strings(file, "traces")) {
    const fs::path path = fs::path(file.path).parent_path() / trace;
    const std::string whole = path.filename().string();
    const std::string name = plain_name(file, whole.substr(0, whole.find('.')));
    if (std::ranges::find(named, name, &NamedText::name) != named.end())
      file.refuse(fmt::format("\"traces\": two are called {}, and would have the same results", name));
    named.push_back({name, path.string()});
  }
  return named;
}

EventList list_of(const JsonFile& file, const NamedText& set, const CpuModel& model) {
  auto list = events_on(model, set.text);
  if (!list.ok())
    file.refuse(fmt::format("\"events\": \"{}\" on {}: {}", set.name, model.name, list.error().message));
  return std::move(list).value();
}

CoreChoice core(const JsonFile& file) {
  const auto found = file.content.find("core");
  if (found == file.content.end()) return {};
  if (!found->is_string()) file.refuse("\"core\": expected a string");
  const auto choice = parse_core(found->get<std::string>());
  if (!choice.ok()) file.refuse(fmt::format("\"core\": {}", choice.error().message));
  return *choice;
}

StartState start(const JsonFile& file) {
  const auto found = file.content.find("start");
  if (found == file.content.end()) return StartState::cold;
  if (!found->is_string()) file.refuse("\"start\": expected a string");
  const auto state = find_start_state(found->get<std::string>());
  if (!state.ok()) file.refuse(fmt::format("\"start\": {}", state.error().message));
  return *state;
}

/// Changes of the core by name. Where there are none: one that changes nothing and has no name.
std::vector<NamedText> core_sets(const JsonFile& file) {
  const auto found = file.content.find("core_sets");
  if (found == file.content.end()) return {{}};
  if (!found->is_object() || found->empty())
    file.refuse("\"core_sets\": expected an object of names and what they change, with one at least");
  std::vector<NamedText> sets;
  for (const auto& [name, list] : found->items()) {
    if (!list.is_string())
      file.refuse(fmt::format("\"core_sets\": \"{}\": expected a string as stat --core-set takes it", name));
    sets.push_back({plain_name(file, name), list.get<std::string>()});
  }
  return sets;
}

/// "icelake+large": a model with a change.
struct ChangedModel {
  std::string name;
  CpuModel model;
  std::string core_set;
};

ChangedModel changed(const JsonFile& file, const std::string& name, const NamedText& set) {
  ChangedModel made{name, file.value_or_refuse(find_cpu_model(name)), set.text};
  if (!set.name.empty()) made.name += '+' + set.name;
  if (set.text.empty()) return made;
  if (const auto done = set_core_parameters(made.model.core, set.text); !done.ok())
    file.refuse(fmt::format("\"core_sets\": \"{}\" on {}: {}", set.name, name, done.error().message));
  return made;
}

std::vector<ChangedModel> models_of(const JsonFile& file) {
  const std::vector<NamedText> sets = core_sets(file);
  std::vector<ChangedModel> models;
  for (const std::string& name : strings(file, "models"))
    for (const NamedText& set : sets) models.push_back(changed(file, name, set));
  return models;
}

u64 size_of(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  if (error) throw CommandError(fmt::format("{}: cannot be read: {}", path, error.message()));
  return bytes;
}

/// A trace that cannot be read is reported when it is its turn.
u64 instructions_of(const std::string& path) {
  const auto reader = trace::Reader::open(path);
  return reader.ok() ? reader->instruction_count() : 0;
}

/// What all jobs of a trace on a model have in common.
struct SweepPlace {
  NamedText trace;
  u64 trace_bytes, instructions;
  ChangedModel model;
  CoreChoice core;
  StartState start;

  SweepJob job(const NamedText& set, EventList list, std::vector<const Metric*> metrics = {}) const {
    return {.trace_name = trace.name,
            .trace_path = trace.text,
            .model_name = model.name,
            .core_set = model.core_set,
            .set_name = set.name,
            .events = set.text,
            .trace_bytes = trace_bytes,
            .instructions = instructions,
            .model = model.model,
            .core = core,
            .start = start,
            .list = std::move(list),
            .metrics = std::move(metrics)};
  }
};

}  // namespace

std::vector<SweepJob> read_sweep(const std::string& path) {
  const JsonFile file = parse_sweep(path);
  const std::vector<NamedText> all_traces = traces(file), sets = event_sets(file);
  const std::vector<ChangedModel> models = models_of(file);
  const NamedText metrics{std::string(metrics_set), metrics_of(file)};
  const CoreChoice choice = core(file);
  const StartState state = start(file);
  if (all_traces.size() * models.size() * (sets.size() + 1) > most_jobs)
    file.refuse(fmt::format("has more than {} jobs", most_jobs));
  std::vector<SweepJob> jobs;
  for (const NamedText& trace : all_traces) {
    const u64 bytes = size_of(trace.text), instructions = instructions_of(trace.text);
    for (const ChangedModel& changed_model : models) {
      const SweepPlace place{trace, bytes, instructions, changed_model, choice, state};
      const CpuModel& model = place.model.model;
      for (const NamedText& set : sets) jobs.push_back(place.job(set, list_of(file, set, model)));
      if (metrics.text.empty()) continue;
      const auto wanted = file.value_or_refuse(find_metrics(metrics.text, model, MissingEvents::kept));
      const NamedText needed{metrics.name, metric_events(wanted, model)};
      jobs.push_back(place.job(metrics, list_of(file, needed, model), wanted));
    }
  }
  return jobs;
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  if (index.ec == std::errc() && index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, shard.count);
    if (count.ec == std::errc() && count.ptr == end && shard.index >= 1 && shard.index <= shard.count)
      return shard;
  }
  throw CommandError(fmt::format("--shard {}: expected I/N, the I-th of N parts, for example 2/8", text));
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include "machine_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/input_file.h"
#include "output.h"
#include "session/core_types.h"

namespace pmusim::tools {

namespace {

/// Some thousand lines are more than any machine has.
constexpr u64 longest_file = 1 << 20;

Result<Topology, Error> machine_of_file(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file.ok()) return Failure(file.error());
  if (file->size() > longest_file)
    return Failure(Error(path + ": is too long for a description of a machine"));
  const auto text = file->read_text();
  return text.ok() ? read_machine(*text, path) : Failure(text.error());
}

constexpr std::string_view pmu_name(u32 type) { return type == 0 ? "cpu_core" : "cpu_atom"; }

/// The items of a list, which stand between commas outside of braces and slashes.
std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items(1);
  unsigned braces = 0;
  bool slashes = false;
  for (const char c : list) {
    if (c == '/') slashes = !slashes;
    if (c == '{') ++braces;
    if (c == '}' && braces > 0) --braces;
    if (c == ',' && braces == 0 && !slashes)
      items.emplace_back();
    else
      items.back() += c;
  }
  return items;
}

bool is_modifiers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("ukhpPGHISDWeX") == std::string_view::npos;
}

/// perf's name for an event of one kind of core: "cpu_core/cycles/u" of "cycles:u".
std::string name_on(u32 type, const std::string& name) {
  const std::string_view pmu = pmu_name(type);
  if (name.starts_with("cpu_core/") || name.starts_with("cpu_atom/")) return name;
  if (name.starts_with("cpu/")) return fmt::format("{}{}", pmu, name.substr(3));
  if (const std::size_t slash = name.find('/'); slash != std::string::npos)
    return fmt::format("{}/{},{}", pmu, name.substr(0, slash), name.substr(slash + 1));
  const std::size_t colon = name.rfind(':');
  const bool modified = colon != std::string::npos && is_modifiers(std::string_view(name).substr(colon + 1));
  return fmt::format("{}/{}/{}", pmu, name.substr(0, modified ? colon : name.size()),
                     modified ? name.substr(colon + 1) : "");
}

bool is_of_cores(const events::EventGroup& group) {
  return std::ranges::any_of(group.events,
                             [](const auto& event) { return core_type_of(event.attr).has_value(); });
}

void make_of_type(events::EventGroup& group, u32 type) {
  for (events::ParsedEvent& event : group.events) {
    if (!core_type_of(event.attr)) continue;  // software
    event.attr = of_core_type(event.attr, type);
    event.name = name_on(type, event.name);
  }
}

bool has_kind(const Topology& machine, const std::vector<u32>& cpus, u32 type) {
  return std::ranges::any_of(cpus, [&](u32 cpu) { return machine.cpus[cpu].type == type; });
}

/// An item on each kind of core that has it.
std::vector<events::EventGroup> groups_of_item(const Topology& machine, const std::string& item,
                                               const std::optional<std::vector<u32>>& cpus) {
  const bool names_core = item.find("cpu_core/") != std::string::npos,
             names_atom = item.find("cpu_atom/") != std::string::npos;
  if (names_core && names_atom)
    throw CommandError(fmt::format("'{}': events of cpu_core and cpu_atom cannot be in one group", item));
  std::vector<events::EventGroup> all;
  std::optional<Error> error;
  for (const u32 type : {1u, 0u}) {
    const bool is_named = type == 1 ? names_atom : names_core;
    if (type == 1 ? names_core : names_atom) continue;
    if (!is_named && cpus && !has_kind(machine, *cpus, type)) continue;
    auto groups = events::parse_events(item, machine.types[type]);
    if (!groups.ok()) {
      error = groups.error();
      continue;
    }
    if (!is_of_cores(groups->front())) return std::move(groups).value();
    for (events::EventGroup& group : *groups) {
      make_of_type(group, type);
      all.push_back(std::move(group));
    }
  }
  if (all.empty()) throw CommandError(error->message);
  return all;
}

}  // namespace

void MachineOption::add_to(CLI::App& command) {
  command.option_defaults()->group("The CPU");
  command.add_option(
      "--machine", machine_,
      "Many CPUs instead of one: MODEL:COUNTS, as icelake:4c8t (cores, threads), sapphirerapids:2s16c "
      "(packages) or alderlake:8p8e (P and E cores), or a file with a line for each CPU "
      "(docs/many-cpus.md)");
  const std::map<std::string, Schedule> schedules{{"spread", Schedule::spread}, {"rotate", Schedule::rotate}};
  command
      .add_option("--schedule", schedule_,
                  "Which CPU a thread runs on: spread (the one with the fewest threads, and it stays) or "
                  "rotate (the next one after every ms)")
      ->transform(CLI::CheckedTransformer(schedules).description(""))
      ->option_text("HOW");
}

void MachineOption::apply_to(SessionOptions& options, const ModelOption& model) const {
  if (machine_.empty()) {
    if (schedule_ != Schedule::spread)
      throw CommandError("--schedule: there is one CPU; --machine gives several to choose from");
    return;
  }
  if (model.is_given()) throw CommandError("--machine goes without --model: it names the model of its CPUs");
  const bool is_file = machine_.find(':') == std::string::npos || std::filesystem::is_regular_file(machine_);
  const bool is_short_form =
      is_file && !std::filesystem::exists(machine_) && machine_.find('/') == std::string::npos;
  Topology machine =
      value_or_fail(is_file && !is_short_form ? machine_of_file(machine_) : parse_machine(machine_));
  for (CpuModel& type : machine.types) model.change(type);
  options.model = machine.types.front();
  options.machine = std::move(machine);
  options.schedule = schedule_;
}

std::vector<events::EventGroup> parse_events_for(const Topology* machine, const CpuModel& model,
                                                 const std::string& list,
                                                 const std::optional<std::vector<u32>>& cpus) {
  if (machine == nullptr || !machine->hybrid()) return value_or_fail(events::parse_events(list, model));
  std::vector<events::EventGroup> all;
  for (const std::string& item : items_of(list))
    for (events::EventGroup& group : groups_of_item(*machine, item, cpus)) all.push_back(std::move(group));
  return all;
}

std::optional<std::vector<u32>> chosen_cpus(const Topology& machine, bool all, const std::string& list) {
  if (list.empty()) return all ? std::optional(machine.online()) : std::nullopt;
  const auto cpus = parse_cpu_list(list, machine);
  if (!cpus.ok()) throw CommandError(fmt::format("-C: {}", cpus.error().message));
  for (const u32 cpu : *cpus)
    if (!machine.cpus[cpu].online) throw CommandError(fmt::format("-C {}: CPU {} is offline", list, cpu));
  return *cpus;
}

}  // namespace pmusim::tools

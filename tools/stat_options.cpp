// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "events/resolve.h"
#include "machine_option.h"
#include "quantity.h"
#include "record_command.h"
#include "session/time_spans.h"
#include "session/topdown_tree.h"
#include "stat_command.h"

namespace pmusim::tools {

namespace {

constexpr u64 nanoseconds_per_ms = 1'000'000;

/// What -d adds, by the number of d's.
constexpr std::array<std::string_view, 4> first_details{"L1-dcache-loads", "L1-dcache-load-misses",
                                                        "LLC-loads", "LLC-load-misses"};
constexpr std::array<std::string_view, 5> second_details{
    "L1-icache-load-misses", "dTLB-loads", "dTLB-load-misses", "iTLB-loads", "iTLB-load-misses"};
constexpr std::array<std::string_view, 2> third_details{"L1-dcache-prefetches", "L1-dcache-prefetch-misses"};

std::vector<std::string> details(unsigned level) {
  std::vector<std::string> names;
  if (level > 0) names.insert(names.end(), first_details.begin(), first_details.end());
  if (level > 1) names.insert(names.end(), second_details.begin(), second_details.end());
  if (level > 2) names.insert(names.end(), third_details.begin(), third_details.end());
  return names;
}

u64 milliseconds(std::string_view option, const std::string& text) {
  const u64 ms = positive(option, text);
  if (ms > ~u64{0} / nanoseconds_per_ms) throw CommandError(fmt::format("{} {}: is too long", option, text));
  return ms * nanoseconds_per_ms;
}

/// Nobody asked for these very events.
bool has_default_events(const StatCommand& command) {
  return command.events.empty() && command.metrics.empty() && !command.topdown;
}

constexpr std::array<std::string_view, 4> default_events{"cycles", "instructions", "branches",
                                                         "branch-misses"};

bool is_known(std::string_view event, const CpuModel& model, CoreLevel core) {
  const auto groups = value_or_fail(events::parse_events(std::string(event), model));
  return events::resolve(model, groups.front().events.front().attr, {.core = core}).ok();
}

/// The default events. A group is counted as a whole or not at all, so that what such a core does not know
/// stays outside.
std::string default_list(const StatCommand& command, const CpuModel& model, CoreLevel core) {
  if (!command.group) return fmt::format("{}", fmt::join(default_events, ","));
  std::vector<std::string_view> known(default_events.begin(), default_events.end()), others;
  std::erase_if(known, [&](std::string_view event) {
    const bool unknown = !is_known(event, model, core);
    if (unknown) others.push_back(event);
    return unknown;
  });
  return fmt::format("{{{}}}{}{}", fmt::join(known, ","), others.empty() ? "" : ",", fmt::join(others, ","));
}

std::vector<events::EventGroup> groups_of(const StatCommand& command, const CpuModel& model, CoreLevel core,
                                          const Topology* machine,
                                          const std::optional<std::vector<u32>>& cpus) {
  if (has_default_events(command))
    return parse_events_for(machine, model, default_list(command, model, core), cpus);
  if (machine != nullptr && machine->hybrid() && (!command.metrics.empty() || command.topdown))
    throw CommandError(
        "-M, --topdown: metrics are of one kind of core; give the events with -e, as cpu_core/cycles/");
  std::vector<events::EventGroup> groups = event_groups(command.events, command.group, model, machine, cpus);
  const std::vector<const Metric*> metrics = wanted_metrics(command, model);
  if (metrics.empty()) return groups;
  for (events::EventGroup& group : value_or_fail(events::parse_events(metric_events(metrics, model), model)))
    groups.push_back(std::move(group));
  return groups;
}

/// Events of threads go wherever those do, so that -a means nothing to them.
std::optional<std::vector<u32>> cpus_of(const StatCommand& command, const Topology* machine) {
  const bool by_task = command.per_thread || chooses_tasks(command);
  const bool by_cpu = command.aggregation() != Aggregation::all;
  if (by_task && (by_cpu || (machine != nullptr && !command.cpus.empty())))
    throw CommandError(
        "--per-thread, -p, -t: count threads wherever they run; they go with neither -C nor counts by CPU");
  if (machine == nullptr) {
    if (by_cpu && command.aggregation() != Aggregation::cpu)
      throw CommandError("--per-core, --per-die, --per-socket: there is one CPU; --machine gives several");
    return std::nullopt;
  }
  if (by_task) return std::nullopt;
  auto cpus = chosen_cpus(*machine, command.all_cpus, command.cpus);
  if (by_cpu && !cpus)
    throw CommandError(
        "-A, --per-core, --per-die, --per-socket: only with -a or -C, which count CPUs and not the program");
  return cpus;
}

void check_topdown_level(const StatCommand& command) {
  if (command.topdown_level == 0 || command.topdown_level > deepest_topdown_level)
    throw CommandError(
        fmt::format("--td-level {}: there are levels 1 to {}", command.topdown_level, deepest_topdown_level));
}

}  // namespace

std::vector<const Metric*> wanted_metrics(const StatCommand& command, const CpuModel& model) {
  std::vector<const Metric*> wanted;
  const auto add_all = [&](const std::vector<const Metric*>& found) {
    for (const Metric* const metric : found)
      if (std::ranges::find(wanted, metric) == wanted.end()) wanted.push_back(metric);
  };
  const auto add = [&](std::string_view option, std::string_view list) {
    const auto found = find_metrics(list, model);
    if (!found.ok()) throw CommandError(fmt::format("{}: {}", option, found.error().message));
    add_all(*found);
  };
  const auto add_topdown = [&](std::string_view option, unsigned level) {
    const auto found = topdown_metrics(model, level);
    if (!found.ok()) throw CommandError(fmt::format("{}: {}", option, found.error().message));
    add_all(*found);
  };
  if (!command.metrics.empty()) add("-M " + command.metrics, command.metrics);
  if (command.topdown) {
    add_topdown("--topdown", 1);
    add_topdown(fmt::format("--td-level {}", command.topdown_level), command.topdown_level);
  }
  return wanted;
}

u64 wanted_intervals(const StatCommand& command) {
  return command.interval_count ? positive("--interval-count", *command.interval_count) : ~u64{0};
}

bool chooses_tasks(const StatCommand& command) {
  return !command.processes.empty() || !command.threads.empty();
}

StatOptions stat_options(const StatCommand& command, const CpuModel& model, CoreLevel core,
                         const Topology* machine) {
  if (machine == nullptr) check_cpu_list(command.cpus);
  check_topdown_level(command);
  if (command.interval_count && !command.interval)
    throw CommandError("--interval-count: needs -I, which gives the length of an interval");
  if (command.interval && (command.repeat > 1 || command.per_thread || chooses_tasks(command)))
    throw CommandError("-I: goes with neither -r nor --per-thread, -p or -t");
  if (!command.record.empty() && (command.repeat > 1 || command.per_thread || chooses_tasks(command)))
    throw CommandError("--record: goes with neither -r nor --per-thread, -p or -t");
  StatOptions options;
  options.cpus = cpus_of(command, machine);
  if (!command.null) {
    options.events = groups_of(command, model, core, machine, options.cpus);
    options.if_possible = details(command.detail);
    options.uncountable = has_default_events(command) ? Uncountable::shown : Uncountable::perfs;
  }
  if (command.multiplex) options.fitting = Fitting::multiplex;
  if (command.delay) {
    auto spans = parse_time_spans(*command.delay);
    if (!spans.ok()) throw CommandError(fmt::format("-D {}: {}", *command.delay, spans.error().message));
    options.measured = std::move(spans).value();
  }
  if (command.interval) options.interval_ns = milliseconds("-I", *command.interval);
  if (command.timeout) options.max_ns = milliseconds("--timeout", *command.timeout);
  options.per_thread = command.per_thread || chooses_tasks(command);
  options.merge_core_types = command.hybrid_merge;
  options.record_to = command.record;
  options.record_cpu_by_cpu = command.per_cpu;
  return options;
}

}  // namespace pmusim::tools

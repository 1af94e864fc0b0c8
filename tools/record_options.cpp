// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "machine_option.h"
#include "pmusim/events/parser.h"
#include "quantity.h"
#include "record_command.h"
#include "session/time_spans.h"

namespace pmusim::tools {

namespace {

std::optional<u64> frequency_of(const RecordCommand& command) {
  if (!command.frequency) return std::nullopt;
  if (*command.frequency == "max") return command.max_sample_rate;
  u64 hertz = 0;
  const std::string& text = *command.frequency;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hertz);
  if (error != std::errc() || end != text.data() + text.size() || hertz == 0)
    throw CommandError(fmt::format("-F {}: give a positive number or 'max'", text));
  return hertz;
}

/// The value, or the end of the command with the option in front of the error's sentence.
template <class T>
T value_for(std::string_view option, std::string_view text, Result<T, Error> result) {
  if (!result.ok()) throw CommandError(fmt::format("{} {}: {}", option, text, result.error().message));
  return std::move(result).value();
}

u64 registers(std::string_view option, const std::optional<std::string>& list) {
  if (!list) return 0;
  if (list->empty()) return events::general_registers();
  return value_for(option, *list, events::parse_registers(*list));
}

void set_call_graph(RecordOptions& options, const std::string& mode) {
  if (mode != "trace" && mode != "lbr")
    throw CommandError(fmt::format(
        "--call-graph {}: traces have no stack memory; 'trace' has the exact stacks, of the calls "
        "and returns that ran, and 'lbr' those of the LBR",
        mode));
  if (mode == "lbr" && options.branch_sample_type != 0)
    throw CommandError(
        "--call-graph lbr goes with neither -b nor -j: call chains come from the LBR, whose call-stack mode "
        "keeps no other branches; --call-graph trace needs no LBR");
  options.call_graph_lbr = mode == "lbr";
  options.call_graph_trace = mode == "trace";
}

void set_branches(RecordOptions& options, const RecordCommand& command) {
  if (command.any_branch) options.branch_sample_type = perf::branch::ANY;
  if (!command.branch_filter.empty())
    options.branch_sample_type |=
        value_for("-j", command.branch_filter, events::parse_branch_filter(command.branch_filter));
  if (command.call_graph) set_call_graph(options, command.call_graph_mode);
}

void set_cpus(RecordOptions& options, const RecordCommand& command, const Topology* machine) {
  if (machine == nullptr) return check_cpu_list(command.cpus);
  const bool chooses_tasks = !command.processes.empty() || !command.threads.empty();
  if (chooses_tasks && !command.cpus.empty())
    throw CommandError("-C goes with neither -p nor -t: it is for everything that runs on these CPUs");
  if (!chooses_tasks) options.cpus = chosen_cpus(*machine, command.all_cpus, command.cpus);
}

void set_tasks(RecordOptions& options, const RecordCommand& command) {
  if (!command.processes.empty()) options.processes = number_list("-p", command.processes);
  if (!command.threads.empty()) options.threads = number_list("-t", command.threads);
  if (command.delay) options.measured = value_for("-D", *command.delay, parse_time_spans(*command.delay));
}

void set_file(RecordOptions& options, const RecordCommand& command) {
  options.build_ids = !command.no_build_ids;
  if (command.compression_level != 0) options.compression_level = command.compression_level;
  if (command.ring) options.ring_pages = ring_pages(*command.ring);
  if (command.max_bytes) options.max_record_bytes = size_in_bytes("--max-size", *command.max_bytes);
}

}  // namespace

std::vector<events::EventGroup> event_groups(const std::vector<std::string>& lists, bool in_one_group,
                                             const CpuModel& model, const Topology* machine,
                                             const std::optional<std::vector<u32>>& cpus) {
  if (in_one_group && machine != nullptr && machine->hybrid())
    throw CommandError(
        "--group: P and E cores count in groups of their own; use braces: {cycles,instructions}");
  std::vector<events::EventGroup> groups;
  for (const std::string& list : lists) {
    if (in_one_group && list.find('{') != std::string::npos)
      throw CommandError(
          fmt::format("--group: '{}' has groups of its own; leave the option or the braces out", list));
    for (events::EventGroup& group : parse_events_for(machine, model, list, cpus)) {
      if (in_one_group && !groups.empty())
        groups.front().events.push_back(std::move(group.events.front()));
      else
        groups.push_back(std::move(group));
    }
  }
  return groups;
}

RecordOptions record_options(const RecordCommand& command, const CpuModel& model, const Topology* machine) {
  RecordOptions options = command.options;
  if (command.period && command.frequency)
    throw CommandError("-c and -F exclude each other: give a period or a frequency");
  if (command.period) options.period = positive("-c", *command.period);
  options.frequency = frequency_of(command);
  set_cpus(options, command, machine);
  const bool chosen = !command.events.empty();
  options.events = event_groups(chosen ? command.events : std::vector<std::string>{"cycles:P"}, command.group,
                                model, machine, options.cpus);
  options.interrupt_registers = registers("--intr-regs", command.interrupt_registers);
  options.user_registers = registers("--user-regs", command.user_registers);
  set_branches(options, command);
  set_tasks(options, command);
  set_file(options, command);
  return options;
}

SessionOptions session_options(const RecordCommand& command, const CpuModel& model) {
  SessionOptions options{.model = model};
  options.limits.max_sample_rate = command.max_sample_rate;
  if (command.throttling) options.throttling = perf::Throttling::on;
  return options;
}

}  // namespace pmusim::tools

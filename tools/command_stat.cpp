#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernel_option.h"
#include "model_option.h"
#include "pmusim/session/stat.h"
#include "progress_bar.h"
#include "truncation.h"

namespace pmusim::tools {

namespace {

struct StatCommand {
  std::string events = "cycles,instructions,branches,branch-misses";
  std::string trace;
  bool json = false;
  ModelOption model;
  KernelOption kernel;
};

std::string with_thousands(u64 value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

/// What a person wants to know beside a count, where another count gives it.
std::string remark(const EventTotal& total, const StatReport& report) {
  const auto value_of = [&](std::string_view name) -> double {
    for (const EventTotal& other : report.events)
      if (other.name.substr(0, other.name.find(':')) == name) return static_cast<double>(other.value());
    return 0;
  };
  const std::string name = total.name.substr(0, total.name.find(':'));
  const auto value = static_cast<double>(total.value());
  if (name == "instructions" && value_of("cycles") > 0)
    return fmt::format("{:.2f}  insn per cycle", value / value_of("cycles"));
  if (name == "branch-misses" && value_of("branches") > 0)
    return fmt::format("{:.2f}% of all branches", 100 * value / value_of("branches"));
  if (name == "cache-misses" && value_of("cache-references") > 0)
    return fmt::format("{:.2f}% of all cache refs", 100 * value / value_of("cache-references"));
  return {};
}

void print_text(const StatReport& report, const StatCommand& command, const CpuModel& model) {
  fmt::print("\n Performance counter stats for '{}' on {}:\n\n", command.trace, model.title);
  for (const EventTotal& total : report.events) {
    const std::string count = total.counted_at_all() ? with_thousands(total.value()) : "<not counted>";
    std::string line = fmt::format("{:>20}      {:<28}", count, total.name);
    if (const std::string text = total.counted_at_all() ? remark(total, report) : ""; !text.empty())
      line += fmt::format(" # {:<28}", text);
    if (total.counted_at_all() && total.running_ns < total.enabled_ns)
      line += fmt::format(" ({:.2f}%)", 100.0 * static_cast<double>(total.running_ns) /
                                            static_cast<double>(total.enabled_ns));
    while (line.back() == ' ') line.pop_back();
    fmt::print("{}\n", line);
  }
  fmt::print("\n{:>20.9f} seconds of emulated time, {} instructions replayed\n\n",
             static_cast<double>(report.elapsed_ns) * 1e-9, with_thousands(report.instructions));
}

void print_json(const StatReport& report, const StatCommand& command, const CpuModel& model) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const EventTotal& total : report.events)
    events.push_back({{"event", total.name},
                      {"value", total.value()},
                      {"counted", total.counted},
                      {"enabled_ns", total.enabled_ns},
                      {"running_ns", total.running_ns}});
  const nlohmann::ordered_json document{{"trace", command.trace},
                                        {"model", model.name},
                                        {"instructions_replayed", report.instructions},
                                        {"elapsed_ns", report.elapsed_ns},
                                        {"events", events}};
  fmt::print("{}\n", document.dump(2));
}

void run(const StatCommand& command) {
  const CpuModel model = command.model.model();
  const auto events = value_or_fail(events::parse_events(command.events, model));
  const auto session =
      value_or_fail(Session::open(command.trace, {.model = model, .kernel = command.kernel.kernel()}));
  warn_if_truncated(session->trace());
  std::optional<ProgressBar> bar(std::in_place, "replaying");
  session->on_progress([&](Progress progress) { bar->show(progress); });
  const StatReport report = value_or_fail(stat(*session, events));
  bar.reset();
  if (command.json)
    print_json(report, command, model);
  else
    print_text(report, command, model);
}

}  // namespace

void add_stat(CLI::App& app) {
  auto options = std::make_shared<StatCommand>();
  CLI::App* const command = app.add_subcommand("stat", "Count events over a replay, as perf stat does");
  command
      ->add_option("-e,--event", options->events,
                   "Events in perf's syntax: cycles,instructions:u,cpu/event=0xc4,umask=0x20/,{a,b}; "
                   "'pmusim events' lists names")
      ->capture_default_str();
  command->footer(
      "Counts are those of the whole program: every event starts before its first instruction. Events that\n"
      "do not fit onto the CPU's counters together take turns every millisecond of emulated time, and "
      "counts\n"
      "are scaled up, as with perf; a group in braces is counted together or not at all.\n\n"
      "  pmusim stat T\n"
      "  pmusim stat --model lioncove -e '{branches,branch-misses},mem_load_retired.l1_miss' T");
  command->add_flag("--json,-j", options->json, "Print JSON");
  options->model.add_to(*command);
  options->kernel.add_to(*command);
  command->add_option("trace", options->trace, "Trace written by 'pmusim trace record'")->required();
  command->callback([options] { run(*options); });
}

}  // namespace pmusim::tools

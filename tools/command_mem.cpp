// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "core_option.h"
#include "model_option.h"
#include "output.h"
#include "trace_option.h"
#include "whole_replay.h"
#include "why/memory.h"

namespace pmusim::tools {

namespace {

struct MemCommand {
  explicit MemCommand(CommandLine line) : trace(std::move(line.program)) {}
  annotate::Options options;
  bool json = false, quiet = false;
  ModelOption model;
  StartOption start;
  TraceOption trace;
};

void run_mem_report(MemCommand& command, const CLI::App& app) {
  command.trace.check(app);
  const CpuModel model = command.model.model();
  const StartState start = command.start.state(command.trace);
  const why::MemoryCollection collection =
      replay_whole(command.trace, command.quiet, [&](trace::Source& source, const why::OnProgress& progress) {
        return why::collect_memory(source, model, command.options, progress, start);
      });
  why::MemoryReport report = why::make_memory_report(collection, command.options);
  report.title = command.trace.title();
  report.setting = why::setting_of(model, start);
  const int signal = command.trace.ending_signal();
  if (signal != 0) report.notes.emplace_back("ended by a signal: this is of the part up to there");
  for (const std::string& note : report.notes) complain(fmt::format("{}: {}", report.title, note));
  print_to(stdout, command.json ? why::memory_json_of(collection, report) + "\n"
                                : why::memory_text_of(collection, report));
  if (signal != 0) throw EndedBySignal{signal};
  if (command.trace.exit_status() != 0) throw ExitStatus{command.trace.exit_status()};
}

void add_mem_report(CLI::App& mem, CommandLine line) {
  auto report = std::make_shared<MemCommand>(std::move(line));
  CLI::App* const command =
      mem.add_subcommand("report", "Say where loads had their data from, and what data they went to");
  command->footer(
      "One replay looks at every access; nothing is sampled. Loads are shown by source and latency, by\n"
      "function, line and variable, with the distances of their addresses; then lines that threads share,\n"
      "and how large a cache the program needs.\n\n"
      "  pmusim mem report T\n"
      "  pmusim mem report --json --model goldencove -- true");
  command->option_defaults()->group("How it is shown");
  command->add_flag("--json", report->json, "Print JSON: everything that is known");
  command->add_option("--debug-directory", report->options.debug_directory, "Where separate debug files are")
      ->capture_default_str();
  command->add_flag("-q,--quiet", report->quiet, "Show no progress");
  report->model.add_to(*command);
  report->model.add_core_set_to(*command);
  report->start.add_to(*command);
  report->trace.add_to(*command);
  command->callback([report, command] { run_mem_report(*report, *command); });
}

}  // namespace

void add_mem(CLI::App& app, CommandLine line) {
  CLI::App* const command = app.add_subcommand("mem", "Say what a program does to memory");
  command->require_subcommand(1);
  add_mem_report(*command, std::move(line));
}

}  // namespace pmusim::tools

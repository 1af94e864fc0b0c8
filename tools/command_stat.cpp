// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "cgroup_option.h"
#include "core_option.h"
#include "hardware_log.h"
#include "interrupts.h"
#include "kernel_entries_option.h"
#include "kernel_option.h"
#include "machine_option.h"
#include "model_option.h"
#include "output.h"
#include "perf_options.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/trace/trace.h"
#include "progress_bar.h"
#include "record_command.h"
#include "stat_command.h"
#include "stat_output.h"
#include "trace_option.h"
#include "truncation.h"

namespace pmusim::tools {

namespace {

/// The command with what every command that replays takes.
struct Counting {
  explicit Counting(CommandLine line) : trace(std::move(line.program)), words(std::move(line.all)) {}
  StatCommand command;
  SessionOptions options;
  ModelOption model;
  MachineOption machine;
  CgroupOption cgroups;
  CoreOption core;
  StartOption start;
  KernelOption kernel;
  KernelEntriesOption entries;
  HardwareLog hardware;
  TraceOption trace;
  std::vector<std::string> words;  ///< of the command line
};

/// Those whose events the model counts.
void list_metrics(const CpuModel& model) {
  std::string text = fmt::format("{:<50} {:<11} {:<26} MEANING\n", "METRIC", "GROUP", "PARENT");
  std::string groups;
  for (const Metric& metric : metrics())
    if (groups.find(fmt::format("{},", metric.group)) == groups.npos)
      groups += fmt::format("{},", metric.group);
  groups.pop_back();
  for (const Metric* const metric : value_or_fail(find_metrics(groups, model, MissingEvents::passed_over)))
    text += fmt::format("{:<50} {:<11} {:<26} {}\n", metric->name, metric->group, metric->parent,
                        metric->meaning);
  print_to(stdout, text);
}

void check(const StatCommand& command, const TraceOption& trace, const CLI::App& app) {
  trace.check(app);
  if (command.repeat == 0)
    throw CommandError("-r 0: a replay for ever ends never; give a number from 1 to 100");
  if (command.descriptor && !command.output.empty())
    throw CommandError("-o and --log-fd exclude each other: counts go to one place");
  if (app.get_option("--output")->count() != 0) check_output_name(command.output, trace.inputs());
  if (app.get_option("--record")->count() != 0) check_output_name(command.record, trace.inputs());
}

/// Programs side by side: one replay of all of them.
StatReport count_several(Counting& counting, const StatOptions& options, const SessionOptions& machine,
                         StatResult& result) {
  TraceOption& trace = counting.trace;
  auto sources = trace.sources(machine.core);
  for (const auto& source : sources) leave_registers_out(*source, machine.core);
  auto programs = value_or_fail(open_side_by_side(std::move(sources), machine));
  for (Session& program : programs) {
    warn_if_truncated(program.trace());
    program.on_progress([&](Progress) {
      if (trace.replay_is_interrupted()) program.stop();
    });
  }
  StatReport report = value_or_fail(stat(programs, options, trace.threads()));
  if (trace.replay_is_interrupted()) result.cut_by = trace.ending_signal();
  return report;
}

/// One replay. Prints intervals as they end.
StatReport count(Counting& counting, StatOptions options, StatResult& result, StatOutput& output) {
  const StatCommand& command = counting.command;
  TraceOption& trace = counting.trace;
  HardwareLog& hardware = counting.hardware;
  SessionOptions machine = counting.options;
  machine.kernel = result.kernel;
  counting.core.apply_to(machine);
  counting.core.choose_windows(machine, trace);
  machine.start = result.start;
  counting.entries.apply_to(machine);
  if (trace.is_of_several()) {
    StatReport report = count_several(counting, options, machine, result);
    for (const std::string& warning : warnings(report.driver)) complain(warning);
    return report;
  }
  const bool watched = hardware.wanted() && result.runs.empty();
  auto source = trace.source(machine.core);
  if (!watched) leave_registers_out(*source, machine.core);
  auto session = value_or_fail(Session::open(std::move(source), machine));
  warn_if_truncated(session.trace());
  if (watched) session.pmu().set_observer(&hardware.open());
  std::optional<ProgressBar> bar;
  if (!command.quiet && !command.interval) bar.emplace("replaying");
  session.on_progress([&](Progress progress) {
    if (bar) bar->show(progress);
    if (!trace.replay_is_interrupted()) return;
    result.cut_by = trace.ending_signal();
    session.stop();
  });
  u64 printed = 0;
  const u64 wanted = wanted_intervals(command);
  if (options.interval_ns)
    options.on_interval = [&](const IntervalTotals& totals) {
      if (printed < wanted && !command.quiet) output.print(interval_text(result, totals, printed == 0));
      if (++printed == wanted) session.stop();
    };
  StatReport report = value_or_fail(stat(session, options));
  if (watched) hardware.finish();
  for (const std::string& warning : warnings(report.driver)) complain(warning);
  return report;
}

/// A trace replays the same way each time, so that once is enough.
void count_runs(Counting& counting, const StatOptions& options, StatResult& result, StatOutput& output) {
  const StatCommand& command = counting.command;
  for (unsigned run = 0; run < command.repeat && counting.trace.ending_signal() == 0; ++run) {
    if (run > 0 && !counting.trace.records_program()) {
      result.runs.push_back(result.runs.front());
      continue;
    }
    counting.trace.begin(trace::RecordedRegisters::none);
    const Interrupts interrupts(counting.trace.ctrl_c());
    result.runs.push_back(count(counting, options, result, output));
    counting.trace.end();
    if (counting.trace.recording_is_cut()) result.cut_by = counting.trace.ending_signal();
  }
}

void run_stat(Counting& counting, const CLI::App& app) {
  const StatCommand& command = counting.command;
  if (command.metrics == "list") return list_metrics(counting.model.model());
  check(command, counting.trace, app);
  counting.hardware.check(counting.trace.inputs(), command.output);
  if (counting.trace.is_of_several() && !counting.machine.is_given())
    throw CommandError(
        "several traces are programs that run side by side on a machine: which one, --machine says");
  if (counting.hardware.wanted() && counting.machine.is_given())
    throw CommandError(MachineOption::no_hardware_log);
  counting.options.model = counting.model.model();
  counting.machine.apply_to(counting.options, counting.model);
  const CpuModel& model = counting.options.model;
  const Topology* const machine = counting.options.machine ? &*counting.options.machine : nullptr;
  StatOptions options = stat_options(command, model, counting.core.level(), machine);
  options.command_line = counting.words;
  counting.cgroups.apply_to(counting.options);
  counting.cgroups.apply_to(options.events, options.cpus || (machine == nullptr && !options.per_thread));
  StatResult result{
      .command = &command, .title = counting.trace.title(), .model = &model, .machine = machine};
  result.kernel = counting.kernel.kernel();
  result.start = counting.start.state(counting.trace);
  result.metrics = wanted_metrics(command, model);
  StatOutput output(command);
  if (command.verbose) print_to(stderr, events_text(options.events));
  count_runs(counting, options, result, output);
  if (!command.quiet)
    output.print(command.interval && !command.summary ? partial_text(result) : stat_text(result));
  output.finish();
  if (const int signal = counting.trace.ending_signal(); signal != 0) throw EndedBySignal{signal};
  if (counting.trace.exit_status() != 0) throw ExitStatus{counting.trace.exit_status()};
}

void add_counting_options(CLI::App& command, StatCommand& c) {
  command.option_defaults()->group("What is counted");
  command
      .add_option("-e,--event", c.events,
                  "Events in perf's syntax: cycles,instructions:u,cpu/event=0xc4,umask=0x20/,{a,b} (default "
                  "cycles,instructions,branches,branch-misses); may be repeated; 'pmusim events' lists names")
      ->allow_extra_args(false);
  command.add_option("-M,--metrics", c.metrics,
                     "Metrics or groups of them; 'list' shows those that the model counts");
  command.add_flag("--topdown", c.topdown, "Where the pipeline's slots went");
  command.add_option("--td-level", c.topdown_level,
                     "Level of --topdown: 1 to 6, as deep as the model's events go");
  command.add_flag("--metric-no-threshold", c.no_threshold,
                   "Mark no metrics that are above their thresholds");
  command.add_flag("-d,--detailed", c.detail, "Count caches too; -dd and -ddd count more");
  command.add_flag("-n,--null", c.null, "Count nothing, show the time");
  command.add_flag("-g,--group", c.group, "Put all events into one group");
  command.add_flag("--multiplex", c.multiplex,
                   "Events that do not fit take turns, as in a kernel, instead of being replayed again");
  command.add_option("-p,--pid", c.processes, "Count these processes of the trace only");
  command.add_option("-t,--tid", c.threads, "Count these threads of the trace only");
  command.add_flag("-a,--all-cpus", c.all_cpus,
                   "Count on every CPU of --machine, instead of the program wherever it runs");
  command.add_option("-C,--cpu", c.cpus,
                     "CPUs of --machine to count on, as 0,2-3; without it 0 is the only one");
  command.add_option("-D,--delay", c.delay, "ms of emulated time to wait before counting");
  command.add_option("--timeout", c.timeout, "ms of emulated time after which to stop");
  command.add_option("-r,--repeat", c.repeat, "Runs; shows means and deviations")->check(CLI::Range(0, 100));
}

void add_printing_options(CLI::App& command, StatCommand& c) {
  command.option_defaults()->group("How it is shown");
  command.add_option("-I,--interval-print", c.interval, "Show counts every N ms of emulated time");
  command.add_option("--interval-count", c.interval_count, "With -I: stop after N intervals");
  command.add_flag("--summary", c.summary, "With -I: show the totals too");
  command.add_flag("--per-thread", c.per_thread, "Show counts thread by thread");
  command.add_flag("-A,--no-aggr", c.per_cpu, "With -a or -C: show counts CPU by CPU");
  command.add_flag("--per-core", c.per_core, "With -a or -C: show counts core by core");
  command.add_flag("--per-die", c.per_die, "With -a or -C: show counts die by die");
  command.add_flag("--per-socket", c.per_socket, "With -a or -C: show counts package by package");
  command.add_flag("--hybrid-merge", c.hybrid_merge, "Add up the counts of a machine's P and E cores");
  command.add_option("-x,--field-separator", c.separator, "Show fields with this between them");
  command.add_flag("-j,--json-output", c.json_lines, "Show one JSON object per line, as perf does");
  command.add_flag("--json", c.json, "Print one JSON document on standard output");
  command.add_option(
      "-o,--output", c.output,
      "File for the counts, instead of standard error; it is there, or replaces another, when they are "
      "complete");
  command.add_option("--record", c.record,
                     "File for the counts as 'perf stat record' writes it, which 'perf stat report' shows");
  command.add_flag("--append", c.append, "Append to that file");
  command.add_option("--log-fd", c.descriptor, "Descriptor for the counts, instead of standard error");
  command.add_flag("-v,--verbose", c.verbose, "Say what each event became");
  command.add_flag("--quiet", c.quiet, "Show nothing");
}

}  // namespace

void add_stat(CLI::App& app, CommandLine line) {
  auto counting = std::make_shared<Counting>(std::move(line));
  CLI::App* const command = app.add_subcommand("stat", "Count events over a replay, as perf stat does");
  command->footer(
      "Counts are those of the whole program: every event starts before its first instruction. Events that\n"
      "do not fit onto the CPU's counters together are counted by replaying again. A group in braces is\n"
      "counted together or not at all. With '-- CMD' a program is replayed while it runs. 'pmusim help "
      "perf-options'\n"
      "says what became of each option of perf stat.\n\n"
      "  pmusim stat T\n"
      "  pmusim stat -d -- true\n"
      "  pmusim stat --topdown --per-thread T\n"
      "  pmusim stat --machine icelake:4c8t -a --per-core T\n"
      "  pmusim stat --machine skylake:2c -a -A T T\n"
      "  pmusim stat --model lioncove -e '{branches,branch-misses},mem_load_retired.l1_miss' T");
  add_counting_options(*command, counting->command);
  counting->cgroups.add_to(*command);
  counting->cgroups.add_for_each_to(*command);
  add_printing_options(*command, counting->command);
  counting->hardware.add_to(*command);
  counting->model.add_to(*command);
  counting->model.add_core_set_to(*command);
  counting->machine.add_to(*command);
  counting->core.add_to(*command);
  counting->core.add_error_to(*command);
  counting->start.add_to(*command);
  counting->kernel.add_to(*command);
  counting->entries.add_to(*command);
  add_other_perf_options(*command);
  counting->trace.add_to(*command);
  counting->trace.add_more_to(*command);
  command->callback([counting, command] { run_stat(*counting, *command); });
}

}  // namespace pmusim::tools

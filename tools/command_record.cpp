// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "base/input_file.h"
#include "base/output_file.h"
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
#include "pmusim/events/parser.h"
#include "pmusim/pmu/pmu.h"
#include "pmusim/trace/trace.h"
#include "progress_bar.h"
#include "record_command.h"
#include "register_options.h"
#include "trace_option.h"
#include "truncation.h"

namespace pmusim::tools {

namespace {

constexpr const char* kallsyms_suffix = ".kallsyms";

/// The command with what every command that replays takes.
struct Recording {
  explicit Recording(CommandLine line) : trace(std::move(line.program)) {
    command.options.command_line = std::move(line.all);
  }
  RecordCommand command;
  ModelOption model;
  MachineOption machine;
  CgroupOption cgroups;
  CoreOption core;
  StartOption start;
  KernelOption kernel;
  KernelEntriesOption entries;
  RegisterOptions registers;
  HardwareLog hardware;
  TraceOption trace;
};

void list_all_registers() {
  print_to(stdout, fmt::format("available registers: {}\n", fmt::join(events::register_names(), " ")));
}

/// `-I T`: the list is optional, and perf takes it only where it is attached.
void return_swallowed_trace(RecordCommand& command, TraceOption& trace) {
  for (std::optional<std::string>* list : {&command.interrupt_registers, &command.user_registers}) {
    if (!*list || trace.given() || events::parse_registers(**list).ok()) continue;
    std::error_code error;
    if (!std::filesystem::exists(**list, error)) continue;
    trace.use_as_trace(**list);
    list->emplace();
  }
}

/// What the user sees of a replay, and how a signal ends it.
void watch(Session& session, const TraceOption& trace, std::optional<ProgressBar>& bar) {
  session.on_progress([&](Progress progress) {
    if (bar) bar->show(progress);
    if (trace.replay_is_interrupted()) session.stop();
  });
}

/// What cannot be said keeps no file from being written.
void tell_recording(const RecordCommand& command, const std::string& text) {
  if (!command.quiet) say(text);
}

/// Fills in the periods that nobody gave. True unless a signal came.
bool choose_periods(const RecordCommand& command, TraceOption& trace, const SessionOptions& machine,
                    RecordOptions& options) {
  std::optional<ProgressBar> bar;
  if (!command.quiet) bar.emplace("counting");
  auto preview = trace.preview(machine.core);
  leave_registers_out(*preview, machine.core);
  auto session = value_or_fail(Session::open(std::move(preview), machine));
  watch(session, trace, bar);
  ChosenPeriods periods = value_or_fail(pmusim::choose_periods(session, options, machine.throttling));
  bar.reset();
  tell_recording(command, chosen_text(periods));
  options.events = std::move(periods.events);
  options.growing = std::move(periods.growing);
  return !trace.replay_is_interrupted();
}

/// Names of the kernel that a session runs, as /proc/kallsyms has them; "": there is none, or nobody has
/// them.
std::string kernel_symbols(const Session& session, const TraceOption& trace, const SessionOptions& machine) {
  if (!session.trace().contents().kernel) return {};
  if (machine.kernel_entries) return trace::synthetic_kallsyms(*machine.kernel_entries);
  const auto file = InputFile::open(trace.title() + kallsyms_suffix);
  return file.ok() ? value_or_fail(file->read_text()) : std::string();
}

/// Beside the profile; says where.
std::string write_kernel_symbols(const std::string& symbols, const std::string& profile) {
  if (profile == "-") return {};
  const std::string path = profile + kallsyms_suffix;
  auto file = value_or_fail(OutputFile::create(path));
  value_or_fail(file.write(std::as_bytes(std::span(symbols))));
  value_or_fail(file.commit());
  return fmt::format("[ pmusim record: the kernel's functions are in {}: perf report --kallsyms {} ]\n", path,
                     path);
}

void record_trace(const RecordCommand& command, TraceOption& trace, const SessionOptions& machine,
                  RecordOptions options, HardwareLog& hardware) {
  const bool runs_nothing = command.dry_run && trace.is_live();
  const std::vector<events::EventGroup> asked = options.events;
  if (command.chooses_periods() && !runs_nothing && !choose_periods(command, trace, machine, options)) return;
  if (command.verbose) tell_recording(command, events_text(options.events));
  auto source = trace.source(machine.core);
  if (!hardware.wanted() && !samples_registers(options)) leave_registers_out(*source, machine.core);
  SessionOptions replayed = machine;
  replayed.call_stacks = options.call_graph_trace;
  auto session = value_or_fail(Session::open(std::move(source), std::move(replayed)));
  warn_if_truncated(session.trace());
  if (command.dry_run) return;
  if (hardware.wanted()) session.pmu().set_observer(&hardware.open());
  std::optional<ProgressBar> bar;
  if (!command.quiet) bar.emplace("replaying");
  watch(session, trace, bar);
  const RecordSummary summary = value_or_fail(record(session, options));
  bar.reset();
  hardware.finish();
  tell_recording(command, summary_text(summary, command, options, asked));
  if (const std::string symbols = kernel_symbols(session, trace, machine); !symbols.empty())
    tell_recording(command, write_kernel_symbols(symbols, options.output));
}

void run_record(Recording& recording, const CLI::App& app) {
  RecordCommand& command = recording.command;
  TraceOption& source = recording.trace;
  if (command.lists_registers()) return list_all_registers();
  return_swallowed_trace(command, source);
  source.check(app);
  SessionOptions machine = session_options(command, recording.model.model());
  recording.machine.apply_to(machine, recording.model);
  machine.kernel = recording.registers.kernel(recording.kernel);
  recording.core.apply_to(machine);
  machine.start = recording.start.state(source);
  recording.entries.apply_to(machine);
  RecordOptions options =
      record_options(command, machine.model, machine.machine ? &*machine.machine : nullptr);
  recording.registers.apply_to(options);
  recording.cgroups.apply_to(machine);
  const bool chooses_tasks = !options.processes.empty() || !options.threads.empty();
  recording.cgroups.apply_to(options.events, options.cpus || (!machine.machine && !chooses_tasks));
  check_output_name(options.output, source.inputs());
  recording.hardware.check(source.inputs(), options.output);
  if (recording.hardware.wanted() && machine.machine) throw CommandError(MachineOption::no_hardware_log);
  source.begin(registers_needed(options));
  recording.core.choose_windows(machine, source);
  int signal = 0;
  {
    const Interrupts interrupts(source.ctrl_c());
    record_trace(command, source, machine, options, recording.hardware);
    source.end();
    signal = source.ending_signal();
  }
  if (signal != 0) throw EndedBySignal{signal};
  if (source.exit_status() != 0) throw ExitStatus{source.exit_status()};
}

/// What is sampled, and how often.
void add_event_options(CLI::App& command, RecordCommand* c) {
  command.option_defaults()->group("What is sampled");
  command
      .add_option("-e,--event", c->events,
                  "Events in perf's syntax, for example cycles:upp or {a,b}:u (default cycles:P); may be "
                  "repeated; 'pmusim events' lists names")
      ->allow_extra_args(false);
  command.add_option("-c,--count", c->period,
                     "Sample every N occurrences, as 10007 or 10k (default: for some 4000 samples)");
  command.add_option("-F,--freq", c->frequency, "Sample N times per second of emulated time, or 'max'");
  command
      .add_option("--max-sample-rate", c->max_sample_rate,
                  "The emulated kernel.perf_event_max_sample_rate: limit of -F and of --throttle")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_flag("--throttle", c->throttling,
                   "Stop events that sample faster than the limit until the next tick, as a kernel does");
  command.add_flag("--group", c->group, "Put all events into one group");
  command.add_option("-p,--pid", c->processes, "Keep the samples of these processes of the trace");
  command.add_option("-t,--tid", c->threads, "Keep the samples of these threads of the trace");
  command.add_flag("-a,--all-cpus", c->all_cpus,
                   "Sample every CPU of --machine, instead of the program wherever it runs");
  command.add_option("-C,--cpu", c->cpus,
                     "CPUs of --machine to sample, as 0,2-3; without it 0 is the only one");
  command.add_option("-D,--delay", c->delay,
                     "ms of emulated time to wait before sampling, or ranges: 10-20,30-40");
}

/// What each sample holds.
void add_sample_options(CLI::App& command, RecordCommand* c) {
  command.option_defaults()->group("What each sample holds");
  RecordOptions& options = c->options;
  command.add_flag("-b,--branch-any", c->any_branch, "Sample the last branches (LBR) with each sample");
  command.add_option(
      "-j,--branch-filter", c->branch_filter,
      "Branch types and levels: any,any_call,any_ret,ind_call,ind_jmp,cond,call,stack,u,k,save_type,...");
  command.add_flag("-g", c->call_graph, "Record call chains: --call-graph trace");
  command
      .add_option(
          "--call-graph", c->call_graph_mode,
          "How: trace (exact, from the calls and returns that ran) or lbr (as the LBR has them, and so "
          "without -b)")
      ->each([c](const std::string&) { c->call_graph = true; });
  command.add_flag("-d,--data", options.addresses, "Sample data addresses and sources");
  command.add_flag("-W,--weight", options.weight, "Sample weights (latencies)");
  command.add_flag("--phys-data", options.physical_addresses, "Sample physical data addresses");
  command.add_flag("--data-page-size", options.data_page_sizes, "Sample the page size of data addresses");
  command.add_flag("--code-page-size", options.code_page_sizes, "Sample the page size of code addresses");
  command.add_flag("--transaction", options.transactions, "Sample transaction flags");
  command.add_flag("-R,--raw-samples", options.raw,
                   "Sample the registers of instruction-based sampling (ibs_fetch, ibs_op) as they are");
  command
      .add_option("-I,--intr-regs", c->interrupt_registers,
                  "Sample registers at the sampled instruction: =ax,bx,ip,... ('?' lists them; all without)")
      ->expected(0, 1);
  command.add_option("--user-regs", c->user_registers, "Sample registers of the interrupted program")
      ->expected(0, 1);
  command.add_flag("--running-time", options.running_times,
                   "Sample enabled and running times with modifier S");
  command.add_flag("--sample-identifier", options.identifiers, "Sample the event's id even if there is one");
  const std::map<std::string, u32> clocks{{"realtime", 0}, {"monotonic", 1}, {"monotonic_raw", 4},
                                          {"boottime", 7}, {"tai", 11},      {"real", 0},
                                          {"mono", 1},     {"raw", 4},       {"boot", 7}};
  command
      .add_option("-k,--clockid", options.clock,
                  "Clock of sample times: realtime, monotonic, monotonic_raw, boottime, tai; all show the "
                  "emulated time")
      ->transform(CLI::CheckedTransformer(clocks, CLI::ignore_case).description(""))
      ->option_text("CLOCK");
}

/// What the file holds beside samples, and how.
void add_file_options(CLI::App& command, RecordCommand* c) {
  command.option_defaults()->group("The file");
  RecordOptions& options = c->options;
  command
      .add_option("-o,--output", options.output,
                  "File to write; what has its name becomes NAME.old; - is standard output, as a stream")
      ->capture_default_str();
  command.add_option("-m,--mmap-pages", c->ring,
                     "Ring buffer: pages, a power of two, or a size as 64M (default 128)");
  command
      .add_flag("-z{1},--compression-level{1}", c->compression_level,
                "Compress records (zstd), with =N up to 22 harder")
      ->check(CLI::Range(0, 22).description(""))
      ->option_text("[=N]");
  command.add_option("--max-size", c->max_bytes, "Stop when records take so much, as 64M");
  command.add_flag("--all-cgroups", options.cgroups, "Record which cgroup each sample's thread is in");
  command.add_flag("--switch-events", options.switches, "Record context switches");
  command.add_flag("-B,--no-buildid", c->no_build_ids, "Leave the build-id table out");
  command.add_flag("--buildid-mmap", options.mapping_build_ids, "Put build ids into mapping records");
  command
      .add_option(
          "--attr-size", options.attr_bytes,
          "Bytes of perf_event_attr in the file, 64 (VER0) to 176 (VER10); readers refuse larger ones "
          "than their own")
      ->capture_default_str();
  command.add_flag("--dry-run", c->dry_run, "Check options and trace, and write nothing");
  command.add_flag("-v,--verbose", c->verbose, "Say what each event became");
  command.add_flag("-q,--quiet", c->quiet, "Print nothing");
}

}  // namespace

void add_record(CLI::App& app, CommandLine line) {
  auto recording = std::make_shared<Recording>(std::move(line));
  RecordCommand* const c = &recording->command;
  CLI::App* const command =
      app.add_subcommand("record", "Sample over a replay and write perf.data, as perf record does");
  command->footer(
      "Precise events (:p, :pp, :ppp) are sampled by PEBS, the others by interrupts. An event that does not\n"
      "say :u is recorded as if it did where a trace holds user mode only. perf, BOLT and AutoFDO read the\n"
      "file; the same trace and options give the same bytes. With '-- CMD' a program is replayed while it "
      "runs.\n"
      "'pmusim help perf-options' says what became of each option of perf record.\n\n"
      "  pmusim record -b T                                             a profile that an optimiser reads:\n"
      "    perf2bolt -p perf.data -o prog.fdata prog                    BOLT\n"
      "    llvm-profgen --perfdata=perf.data --binary=prog -o prog.prof LLVM\n"
      "    create_llvm_prof --profile=perf.data --binary=prog --out=prog.prof   AutoFDO\n"
      "  pmusim record -b -- true                                       record a program and sample it\n"
      "  pmusim record -e cycles:upp -c 10007 -j any,u T                every 10007th cycle\n"
      "  pmusim record -e cpu/mem-loads,ldlat=30/upp -d -W T            where loads go, how long they take\n"
      "  pmusim record -e br_misp_retired.all_branches:upp -I ax,ip T   registers at mispredicted branches\n"
      "  pmusim record -g --model lioncove T                            call chains, from the LBR\n"
      "  pmusim record -b ls -l                                         as perf takes a program, without "
      "'--'");
  add_event_options(*command, c);
  recording->cgroups.add_to(*command);
  add_sample_options(*command, c);
  add_file_options(*command, c);
  recording->model.add_to(*command);
  recording->model.add_core_set_to(*command);
  recording->machine.add_to(*command);
  recording->core.add_to(*command);
  recording->core.add_error_to(*command);
  recording->start.add_to(*command);
  recording->kernel.add_to(*command);
  recording->entries.add_to(*command);
  recording->hardware.add_to(*command);
  recording->registers.add_to(*command, recording->model, recording->kernel);
  add_other_perf_options(*command);
  recording->trace.add_to(*command);
  command->callback([recording, command] { run_record(*recording, *command); });
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
// `stat` and `record` as the commands of pmusim, with the kernel's own driver and perf_event core.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "host/access_text.h"
#include "host/commands.h"
#include "host/kernel_events.h"
#include "host/outcome.h"
#include "host/recording.h"
#include "pmusim/session/record.h"
#include "pmusim/trace/trace.h"
#include "session/file_options.h"
#include "session/file_sink.h"

namespace pmusim::linux_driver {

namespace {

/// What both take.
struct ReplayCommand {
  std::vector<std::string> program;
  std::string trace, model = "icelake", events = "cycles,instructions,branches,branch-misses", log;
  std::optional<u64> offline_ms{};
};

struct RecordCommand : ReplayCommand {
  u64 period = 0, frequency = 0;
  std::string branch_filter, registers, output = "perf.data";
  bool branches = false, addresses = false, weight = false;
};

/// A booted machine that says what the kernel does.
class LoggedMachine {
 public:
  explicit LoggedMachine(const ReplayCommand& command)
      : machine(value_or_fail(find_cpu_model(command.model))) {
    if (!command.log.empty()) open_log(command.log);
    if (const int error = machine.boot(); error != 0)
      throw CommandError(
          fmt::format("the kernel finds no PMU on {}: {}", command.model, std::strerror(-error)));
    machine.on_print = [](const std::string& line) { std::fprintf(stderr, "kernel: %s", line.c_str()); };
  }
  ~LoggedMachine() {
    if (log_ != nullptr) std::fclose(log_);
  }
  LoggedMachine(const LoggedMachine&) = delete;
  LoggedMachine& operator=(const LoggedMachine&) = delete;

  /// Ends the command with 1 if the kernel warned.
  void tell_traps() const {
    for (const Trap& trap : machine.traps()) fmt::print(stderr, "pmusim-linux: {}\n", text_of(trap));
    if (!machine.traps().empty()) throw Findings();
  }

  KernelMachine machine;

 private:
  void open_log(const std::string& path) {
    log_ = path == "-" ? stderr : std::fopen(path.c_str(), "w");
    if (log_ == nullptr) throw CommandError(fmt::format("{}: {}", path, std::strerror(errno)));
    machine.on_access = [this](const Access& access) {
      fmt::print(log_, "{:>12} {}\n", machine.pmu().now(), text_(access));
    };
  }
  AccessText text_;
  std::FILE* log_ = nullptr;
};

/// The trace that is named, or one of the program, which is made for this run.
class WatchedTrace {
 public:
  explicit WatchedTrace(ReplayCommand& command) {
    if (command.program.empty() == command.trace.empty())
      throw CommandError("what to watch: expected a trace, or '-- PROGRAM ARGUMENT...'");
    if (command.program.empty()) return;
    std::string name = (std::filesystem::temp_directory_path() / "pmusim-linux-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0) throw CommandError(fmt::format("{}: {}", name, std::strerror(errno)));
    close(file);
    made_ = command.trace = name;
    value_or_fail(
        trace::record(command.program, {.output = name, .registers = trace::RecordedRegisters::gpr}));
  }
  ~WatchedTrace() {
    std::error_code gone;
    if (!made_.empty()) std::filesystem::remove(made_, gone);
  }
  WatchedTrace(const WatchedTrace&) = delete;
  WatchedTrace& operator=(const WatchedTrace&) = delete;

 private:
  std::string made_;
};

WatchedProgram open_program(const ReplayCommand& command, KernelMachine& machine) {
  WatchedProgram program = value_or_fail(WatchedProgram::open(command.trace, machine));
  if (command.offline_ms) program.replug_at(*command.offline_ms * 1'000'000);
  return program;
}

std::vector<events::EventGroup> parsed_events(const ReplayCommand& command, const CpuModel& model) {
  return value_or_fail(events::parse_events(command.events, model));
}

void run_stat(ReplayCommand command) {
  const WatchedTrace watched(command);
  LoggedMachine logged(command);
  WatchedProgram program = open_program(command, logged.machine);
  std::vector<std::pair<std::string, KernelEvent>> opened;
  for (const events::EventGroup& group : parsed_events(command, logged.machine.model())) {
    int leader = -1;
    for (const events::ParsedEvent& event : group.events) {
      perf::Attr attr = event.attr;
      attr.exclude_kernel = attr.exclude_hv = 1;
      attr.read_format = perf::read_format::TOTAL_TIME_ENABLED | perf::read_format::TOTAL_TIME_RUNNING;
      auto made = KernelEvent::open(attr, leader);
      if (!made.ok())
        throw CommandError(
            fmt::format("event '{}': the kernel refuses it: {}", event.name, made.error().message));
      if (leader < 0) leader = made->descriptor();
      opened.emplace_back(event.name, std::move(made).value());
    }
  }
  const u64 instructions = value_or_fail(program.run());
  fmt::print("{} instructions on {}:\n\n", instructions, logged.machine.model().title);
  for (const auto& [name, event] : opened) {
    event.disable();
    const auto count = event.read();
    if (!count || count->running_ns == 0) {
      fmt::print("{:>20}  {}\n", "<not counted>", name);
      continue;
    }
    fmt::print("{:>20}  {}", count->counted, name);
    if (count->running_ns < count->enabled_ns)
      fmt::print("  (on a counter {:.2f} % of the time)",
                 100.0 * static_cast<double>(count->running_ns) / static_cast<double>(count->enabled_ns));
    fmt::print("\n");
  }
  logged.tell_traps();
}

RecordOptions record_options(const RecordCommand& command, const CpuModel& model) {
  RecordOptions options{.events = parsed_events(command, model)};
  if (command.period != 0) options.period = command.period;
  if (command.frequency != 0) options.frequency = command.frequency;
  if (command.branches) options.branch_sample_type = perf::branch::ANY | perf::branch::USER;
  if (!command.branch_filter.empty())
    options.branch_sample_type = value_or_fail(events::parse_branch_filter(command.branch_filter));
  if (!command.registers.empty())
    options.interrupt_registers = value_or_fail(events::parse_registers(command.registers));
  options.addresses = command.addresses;
  options.weight = command.weight;
  options.output = command.output;
  return options;
}

void run_record(RecordCommand command) {
  const WatchedTrace watched(command);
  LoggedMachine logged(command);
  const RecordOptions options = record_options(command, logged.machine.model());
  // What a file says of the machine is the same as without the kernel.
  const Session session = value_or_fail(
      Session::open(command.trace, {.model = logged.machine.model(), .kernel = emulated_release()}));
  auto writer = value_or_fail(perfdata::Writer::create(options.output, writer_options(session, options)));
  FileSink sink(writer, options);
  WatchedProgram program = open_program(command, logged.machine);
  const RecordSummary summary = value_or_fail(record_into(sink, logged.machine, program, options));
  value_or_fail(writer.finish());
  fmt::print(stderr, "[ pmusim-linux: {} samples in {} ]\n", summary.samples, options.output);
  logged.tell_traps();
}

void add_replay_options(CLI::App& app, ReplayCommand& command) {
  app.add_option("-e,--event", command.events, "Events in perf's syntax");
  app.add_option("--model", command.model, "The processor (default icelake)");
  app.add_option("--msr-log", command.log,
                 "File for every access of the kernel, with its function; '-': standard error");
  app.add_option("--offline-ms", command.offline_ms,
                 "Take the CPU down and up again after so many ms of emulated time");
  app.add_option("TRACE", command.trace, "A trace of 'pmusim trace record'; or '-- PROGRAM ARGUMENT...'");
}

}  // namespace

void add_stat(CLI::App& app, const std::vector<std::string>& program) {
  auto command = std::make_shared<ReplayCommand>();
  command->program = program;
  CLI::App* const stat =
      app.add_subcommand("stat", "Count events with the kernel's driver; what does not fit takes turns");
  add_replay_options(*stat, *command);
  stat->callback([command] { run_stat(*command); });
}

void add_record(CLI::App& app, const std::vector<std::string>& program) {
  auto command = std::make_shared<RecordCommand>();
  command->program = program;
  CLI::App* const record = app.add_subcommand("record", "Sample with the kernel's driver into a perf.data");
  command->events = "cycles";
  add_replay_options(*record, *command);
  record->add_option("-c,--count", command->period, "Period");
  record->add_option("-F,--freq", command->frequency, "Samples per second of emulated time (default 4000)");
  record->add_flag("-b,--branch-any", command->branches, "Branch stacks");
  record->add_option("-j,--branch-filter", command->branch_filter, "Branch stacks of these branches");
  record->add_flag("-d,--data", command->addresses, "Data addresses and sources");
  record->add_flag("-W,--weight", command->weight, "Weights");
  record->add_option("--intr-regs", command->registers, "Registers");
  record->add_option("-o,--output", command->output, "The file (default perf.data)");
  record->callback([command] { run_record(*command); });
}

}  // namespace pmusim::linux_driver

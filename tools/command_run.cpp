// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "core_option.h"
#include "count_line.h"
#include "kernel_option.h"
#include "live/run.h"
#include "machine_option.h"
#include "model_option.h"
#include "output.h"
#include "record_command.h"

namespace pmusim::tools {

namespace {

/// The command with what it takes.
struct Run {
  std::vector<std::string> program;
  ModelOption model;
  MachineOption machine;
  CoreOption core;
  KernelOption kernel;
  std::string trace;
  bool verbose = false, progress = false, throttle = false, uncounted_zero = false;
};

std::string remark(std::string_view text) { return fmt::format("[ pmusim run: {} ]\n", text); }

/// What is said on request.
std::string run_summary_text(const live::RunSummary& summary, const std::string& trace) {
  constexpr double ns_per_ms = 1e6;
  std::string text;
  if (!summary.missing_view.empty())
    text += remark("programs find no PMU in sysfs: " + summary.missing_view);
  else if (!summary.missing_registers.empty())
    text += remark("programs find no /dev/cpu/0/msr: " + summary.missing_registers);
  if (summary.driver.merged_overflows != 0)
    text += remark(merged_overflows_text(summary.driver.merged_overflows));
  for (const auto& [reason, times] : summary.refusals)
    text +=
        remark(fmt::format("refused {}: {}", times == 1 ? "once" : fmt::format("{} times", times), reason));
  text += remark(fmt::format("{} instructions stepped, {} calls served, {:.3f} ms of emulated time",
                             summary.instructions, summary.calls,
                             static_cast<double>(summary.elapsed_ns) / ns_per_ms));
  if (summary.trace && summary.trace->ok())
    text += remark(fmt::format("{} instructions recorded, {} bytes in {}", (*summary.trace)->instructions,
                               (*summary.trace)->file_bytes, trace));
  return text;
}

/// What a terminal shows while tasks are stepped. How far they are is drawn where the program prints
/// somewhere else, or on request: both would share the line.
class StepProgress {
 public:
  explicit StepProgress(bool wanted) : drawn_(wanted || ::isatty(STDOUT_FILENO) == 0) {}

  void show(u64 instructions) {
    if (!std::exchange(noted_, true) && may_draw()) say(remark(cost()));
    if (drawn_) line_.show(instructions);
  }
  void clear() { line_.clear(); }

 private:
  std::string cost() const {
    return fmt::format("tasks with events are single-stepped: some 20 to 30 us for each instruction{}",
                       drawn_ ? "" : "; --progress shows how far they are");
  }

  bool drawn_, noted_ = false;
  CountLine line_{"pmusim run"};
};

void run_program(const Run& command) {
  if (command.program.empty()) throw CommandError("run: there is no program behind '--'");
  live::RunOptions options;
  options.machine.model = command.model.model();
  command.machine.apply_to(options.machine, command.model);
  options.machine.kernel = command.kernel.kernel();
  command.core.apply_to(options.machine);
  options.command = command.program;
  options.trace = command.trace;
  if (command.throttle) options.machine.throttling = perf::Throttling::on;
  if (command.uncounted_zero) options.uncounted = live::UncountedEvents::read_zero;
  StepProgress progress(command.progress);
  options.progress = [&](u64 instructions) { progress.show(instructions); };
  const live::RunSummary summary = value_or_fail(live::run(options));
  progress.clear();
  for (const std::string& why : summary.read_zero) say(remark("read 0: " + why));
  if (command.verbose) say_lines(run_summary_text(summary, command.trace));
  if (WIFSIGNALED(summary.status)) throw EndedBySignal{WTERMSIG(summary.status)};
  if (WEXITSTATUS(summary.status) != 0) throw ExitStatus{WEXITSTATUS(summary.status)};
  if (summary.trace && !summary.trace->ok())
    throw CommandError(fmt::format("{}: {}", command.trace, summary.trace->error().message));
}

}  // namespace

void add_run(CLI::App& app, CommandLine line) {
  auto options = std::make_shared<Run>();
  options->program = std::move(line.program);
  CLI::App* const command =
      app.add_subcommand("run", "Run a program unmodified, for example perf itself, on the emulated PMU");
  command->footer(
      "The program and what it starts see a PMU whether this machine has one or not: perf_event_open and "
      "what\n"
      "is done with its descriptors are answered by the emulated driver and perf core; sysfs shows the PMU\n"
      "and /proc/cpuinfo the CPU.\n"
      "Tasks with events on them are single-stepped, all others run by themselves. User mode is counted.\n"
      "Ends with the program's exit status, and ends what the program leaves running. docs/run.md says what\n"
      "works.\n\n"
      "  pmusim run -- perf stat -d ls\n"
      "  pmusim run --model skylake -- perf record -b ./prog\n"
      "  pmusim run --record prog.pmutrace -- perf stat ./prog\n"
      "  pmusim run -- make check");
  command->add_option("--record", options->trace,
                      "Write what was stepped as a trace, too: a replay counts the same");
  command->add_flag("-v,--verbose", options->verbose,
                    "Say at the end what was stepped and served, and why events were refused");
  command->add_flag("--progress", options->progress,
                    "On a terminal, show how many instructions were stepped even where the program prints to "
                    "it, too");
  command->add_flag("--throttle", options->throttle,
                    "Stop every event that samples faster than perf_event_max_sample_rate until the next "
                    "tick, as a kernel does; those whose overflows send signals always are");
  command->add_flag("--uncounted-zero", options->uncounted_zero,
                    "Let events that exist on the model and that nothing here can produce read 0, and name "
                    "them at the end; without it they cannot be opened, which ends perf where one leads a "
                    "group");
  options->model.add_to(*command);
  options->machine.add_to(*command);
  options->model.add_core_set_to(*command);
  options->core.add_to(*command);
  options->kernel.add_to(*command);
  command->callback([options] { run_program(*options); });
}

}  // namespace pmusim::tools

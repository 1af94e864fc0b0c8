// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "experiment.h"
#include "fast_recording.h"
#include "model_option.h"
#include "output.h"
#include "session/acr_experiment.h"
#include "temporary_directory.h"

namespace pmusim::tools {
namespace {

struct AcrCommand {
  std::string trace, program, output;
  unsigned elements = 16384, passes = 6;
  bool json = false;
  ModelOption model{"skymont"};
  AcrExperimentOptions options;
};

/// The workload that was built with this command, unless another program is given.
std::string program_of(const AcrCommand& command) {
  if (!command.program.empty()) return command.program;
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const auto built = self.parent_path().parent_path() / "workloads" / "mispredict";
  if (!std::filesystem::exists(built, unknown))
    throw CommandError(fmt::format("{} is not there: build examples/workloads, or give --program or --trace",
                                   built.lexically_normal().string()));
  return built.string();
}

/// What the traced program prints must not mix with the report.
class StandardOutputToError {
 public:
  StandardOutputToError() : saved_(dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~StandardOutputToError() {
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }
  StandardOutputToError(const StandardOutputToError&) = delete;
  StandardOutputToError& operator=(const StandardOutputToError&) = delete;

 private:
  int saved_;
};

std::string record_workload(const AcrCommand& command, const std::string& directory) {
  const StandardOutputToError redirected;
  const std::string path = directory + "/mispredict.pmutrace";
  fmt::print(stderr, "recording the workload\n");
  const ProgramRecording recording = value_or_fail(record_program(
      RecorderChoice::automatic,
      {program_of(command), fmt::format("{}", command.elements), fmt::format("{}", command.passes)},
      {.output = path}));
  fmt::print(stderr, "{}", recording.recorder);
  return path;
}

nlohmann::ordered_json acr_run_json(const AcrRun& run) {
  return {{"samples", run.samples},
          {"loop1", run.in_loop(0)},
          {"loop2", run.in_loop(1)},
          {"by_event", {{"branch-misses", run.of_misses()}, {"branch-instructions", run.of_branches()}}},
          {"events", run.events},
          {"file_bytes", run.file_bytes}};
}

void print_acr_json(const AcrExperiment& e) {
  const nlohmann::ordered_json document{
      {"traditional", acr_run_json(e.traditional)},
      {"acr", acr_run_json(e.acr)},
      {"miss_percent", {{"loop1", e.miss_percent(0)}, {"loop2", e.miss_percent(1)}}},
      {"published",
       {{"traditional", {{"samples", 5106}, {"file_bytes", 925'000}}},
        {"acr", {{"samples", 2498}, {"file_bytes", 98'000}}},
        {"miss_percent", {{"loop1", 11}, {"loop2", 21}}}}}};
  fmt::print("{}\n", document.dump(2));
}

void print_row(const char* what, const AcrRun& run) {
  fmt::print("{:12} {:>8} {:>16} {:>16} {:>12} {:>12}\n", what, run.samples,
             fmt::format("{} / {}", run.miss_samples[0], run.miss_samples[1]),
             fmt::format("{} / {}", run.branch_samples[0], run.branch_samples[1]),
             run.misses_elsewhere + run.branches_elsewhere,
             fmt::format("{:.3f} MB", static_cast<double>(run.file_bytes) / 1e6));
}

void print_acr_text(const AcrExperiment& e, const AcrExperimentOptions& options) {
  fmt::print("Missed branches: {:.1f} % in loop 1, {:.1f} % in loop 2 (published: about 11 and 21)\n",
             e.miss_percent(0), e.miss_percent(1));
  fmt::print("ACR samples branch-misses where they exceed {} % of the branches.\n\n", options.ratio_percent);
  fmt::print("{:12} {:>8} {:>16} {:>16} {:>12} {:>12}\n", "", "samples", "misses in 1 / 2",
             "branches in 1 / 2", "elsewhere", "file");
  print_row("traditional", e.traditional);
  print_row("ACR", e.acr);
  const double share = e.traditional.samples == 0 ? 0
                                                  : 100.0 * static_cast<double>(e.acr.samples) /
                                                        static_cast<double>(e.traditional.samples);
  fmt::print(
      "\nACR takes {:.0f} % of the samples (published: 5106 -> 2498, 49 %, all branch-misses in loop 2;\n"
      "0.925 MB -> 0.098 MB at periods of 1,000,000 and 200,000).\n",
      share);
}

/// The folder is there, and neither profile would take the place of the trace.
void check_output(const AcrCommand& command) {
  if (!std::filesystem::is_directory(command.output))
    throw CommandError(fmt::format("-o {}: there is no such directory", command.output));
  for (const char* const name : {"traditional.data", "acr.data"})
    check_output_name((std::filesystem::path(command.output) / name).string(), std::span(&command.trace, 1));
}

void run_acr(AcrCommand& command) {
  if (!command.output.empty()) check_output(command);
  std::optional<TemporaryDirectory> temporary;
  if (command.trace.empty() || command.output.empty()) temporary.emplace();
  command.options.model = command.model.model();
  command.options.directory = command.output.empty() ? temporary->path() : command.output;
  command.options.progress = [](const std::string& what) { fmt::print(stderr, "{}\n", what); };
  const std::string trace =
      command.trace.empty() ? record_workload(command, temporary->path()) : command.trace;
  const AcrExperiment experiment = value_or_fail(run_acr_experiment(trace, command.options));
  if (command.json)
    print_acr_json(experiment);
  else
    print_acr_text(experiment, command.options);
}

}  // namespace

void add_experiment_acr(CLI::App& experiment) {
  auto c = std::make_shared<AcrCommand>();
  CLI::App* const command = experiment.add_subcommand(
      "acr", "Auto counter reload: sample mispredicted branches only where they are frequent");
  command->footer(
      "Two loops mispredict at different rates. The program is sampled traditionally, every N branches and\n"
      "every N misses, and then as an ACR group, in which the counts of both events start again unless "
      "misses\n"
      "come often enough: only the worse loop is sampled. Without --trace the workload is recorded first.");
  command->add_flag("--json", c->json, "Print the result as JSON");
  command->add_option("--trace", c->trace, "Recording of the mispredict workload (default: make one)");
  command->add_option("--program", c->program, "The workload to record (default: the one built with pmusim)");
  command->add_option("--elements", c->elements, "Numbers that the workload scans")->capture_default_str();
  command->add_option("--passes", c->passes, "Scans per loop")->capture_default_str();
  command->add_option("-c,--count", c->options.period, "Sampling period of branches, and of both without ACR")
      ->check(CLI::Range(u64{10}, u64{0xFFFF'FFFF}))
      ->capture_default_str();
  command
      ->add_option("--ratio", c->options.ratio_percent, "Misses per hundred branches above which ACR samples")
      ->check(CLI::Range(u64{1}, u64{100}))
      ->capture_default_str();
  command->add_option("-o,--output", c->output,
                      "Existing directory that keeps traditional.data and acr.data");
  c->model.add_to(*command);
  command->callback([c] { run_acr(*c); });
}

}  // namespace pmusim::tools

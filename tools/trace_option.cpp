#include "trace_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>

#include <filesystem>

#include "fast_recording.h"
#include "interrupts.h"
#include "output.h"

namespace pmusim::tools {

namespace fs = std::filesystem;

namespace {

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_directory(path, error);
}

/// An option whose value is a file, where no trace was given: it has probably taken the trace's name.
std::string swallower(const CLI::App& command) {
  for (const CLI::Option* const option : command.get_options())
    if (option->get_items_expected_max() > 0)
      for (const std::string& value : option->results())
        if (is_file(value))
          return fmt::format("; {} has taken '{}' as its value", option->get_name(false, true), value);
  return "";
}

int shell_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

}  // namespace

void TraceOption::add_to(CLI::App& command) {
  command.option_defaults()->group("The trace");
  command.add_option("--save-trace", saved_, "With '-- CMD': keep the trace under this name");
  command.add_option("trace", trace_, "Trace written by 'pmusim trace record', or '-- CMD' to record now");
}

std::string TraceOption::title() const {
  return records_program() ? fmt::format("{}", fmt::join(program_, " ")) : trace_;
}

std::vector<std::string> TraceOption::inputs() const {
  return records_program() ? std::vector<std::string>{} : std::vector{trace_};
}

void TraceOption::check(const CLI::App& command) const {
  const std::string& name = command.get_name();
  if (records_program() && !trace_.empty())
    throw CommandError(
        fmt::format("{} -- {}: replay a trace or record a program, not both", trace_, program_.front()));
  if (!given())
    throw CommandError(
        fmt::format("no trace to replay{}; expected 'pmusim {} [OPTIONS] TRACE' or "
                    "'pmusim {} [OPTIONS] -- CMD'",
                    swallower(command), name, name));
  if (!records_program() && !saved_.empty())
    throw CommandError("--save-trace: is for programs that are recorded now, with '-- CMD'");
  if (!records_program() && !is_file(trace_))
    throw CommandError(
        fmt::format("{}: there is no such trace; 'pmusim {} -- {}' would record a program and "
                    "replay it",
                    trace_, name, trace_));
  if (!saved_.empty()) check_output_name(saved_, program_, "--save-trace");
}

std::string TraceOption::obtain(trace::RecordedRegisters registers) {
  if (!records_program()) return trace_;
  if (saved_.empty() && !directory_) directory_.emplace();
  trace::RecordOptions options{.output = saved_.empty() ? directory_->path() + "/trace" : saved_,
                               .registers = registers};
  const Interrupts interrupts;
  options.stop = &Interrupts::told_to_end();
  const ProgramRecording recording =
      value_or_fail(record_program(RecorderChoice::automatic, program_, options));
  exit_status_ = shell_status(recording.summary.status);
  if (!recording.missing.empty()) say(recording.missing);
  return options.output;
}

}  // namespace pmusim::tools

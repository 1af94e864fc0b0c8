// SPDX-License-Identifier: MIT
#include "trace_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/wait.h>

#include <filesystem>

#include "interrupts.h"
#include "output.h"
#include "pmusim/trace/trace.h"

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

/// CPUs that this process may run on. (std::thread::hardware_concurrency() would open a file for it, which a
/// confined command has no business to.)
unsigned usable_cpus() {
  cpu_set_t cpus;
  return ::sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? static_cast<unsigned>(CPU_COUNT(&cpus)) : 1;
}

int shell_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

/// "mem report".
std::string name_with_parents(const CLI::App& command) {
  const CLI::App* const above = command.get_parent();
  if (above == nullptr || above->get_parent() == nullptr) return command.get_name();
  return name_with_parents(*above) + " " + command.get_name();
}

}  // namespace

void TraceOption::add_to(CLI::App& command) {
  command.option_defaults()->group("The trace");
  command.add_option("--save-trace", saved_, "With '-- CMD': keep the trace under this name");
  command.add_option("--from", from_,
                     "Begin with the block that holds instruction N of the trace (0 is its first)");
  command
      .add_option(
          "--jobs", jobs_,
          "Threads for a trace: 1, or 2 that decode it beside its replay (default 2 where there are as many "
          "CPUs and a whole core to be waited for); for several traces of 'stat', packages at a time "
          "(default "
          "as many as there are CPUs). The results are the same")
      ->check(CLI::Range(1u, 1024u));
  command.add_option("trace", trace_, "Trace written by 'pmusim trace record', or '-- CMD' to run one now");
}

void TraceOption::add_more_to(CLI::App& command) {
  command.add_option("more", more_,
                     "With --machine: further traces, of programs that run at the same time, each on as many "
                     "cores of its own");
}

std::string TraceOption::title() const {
  return fmt::format("{}", fmt::join(records_program() ? program_ : inputs(), " "));
}

std::vector<std::string> TraceOption::inputs() const {
  if (records_program()) return {};
  std::vector<std::string> all{trace_};
  all.insert(all.end(), more_.begin(), more_.end());
  return all;
}

void TraceOption::check(const CLI::App& command) const {
  const std::string name = name_with_parents(command);
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
  for (const std::string& input : inputs())
    if (!is_file(input))
      throw CommandError(
          fmt::format("{}: there is no such trace; 'pmusim {} -- {}' would record a program and "
                      "replay it",
                      input, name, input));
  if (from_ && is_of_several()) throw CommandError("--from: goes with one trace");
  if (from_ && is_live())
    throw CommandError(
        "--from: is for traces; 'pmusim trace record --skip N' begins a recording N instructions later");
  if (!saved_.empty()) check_output_name(saved_, program_, "--save-trace");
}

void TraceOption::begin(trace::RecordedRegisters registers) {
  if (!records_program()) return;
  recording_.reset();
  recording_ended_by_ = 0;
  if (is_live()) {
    const auto make = [this, registers](const std::string& output, const std::atomic<bool>& stop) {
      return record({.output = output, .registers = registers, .stop = &stop});
    };
    live_ = std::make_unique<trace::LiveTrace>(title(), trace::contents_with(registers), make,
                                               &Interrupts::end_requested());
  } else {
    const Interrupts interrupts(CtrlC::program);
    value_or_fail(record({.output = saved_, .registers = registers, .stop = &Interrupts::end_requested()}));
    recording_ended_by_ = Interrupts::caught();
  }
}

Result<Done, Error> TraceOption::record(const trace::RecordingOptions& options) {
  const auto recording = record_program(RecorderChoice::automatic, program_, options);
  if (!recording.ok()) return Failure(recording.error());
  recording_ = *recording;
  return Done{};
}

/// Beside less than the whole core, decoding takes no longer than being handed what was decoded.
bool TraceOption::decodes_ahead(CoreLevel core) const {
  if (is_of_several()) return false;
  if (jobs_ != 0) return jobs_ > 1;
  return has_caches(core) && usable_cpus() > 1;
}

unsigned TraceOption::threads() const { return jobs_ != 0 ? jobs_ : usable_cpus(); }

std::vector<std::unique_ptr<trace::Source>> TraceOption::sources(CoreLevel core) const {
  std::vector<std::unique_ptr<trace::Source>> all;
  for (const std::string& input : inputs()) all.push_back(open_file(input, core));
  return all;
}

std::unique_ptr<trace::Source> TraceOption::open_file(const std::string& path, CoreLevel core) const {
  auto reader = std::make_unique<trace::Reader>(value_or_fail(trace::Reader::open(path)));
  if (from_) value_or_fail(reader->begin_at(*from_));
  if (decodes_ahead(core)) reader->decode_ahead();
  return reader;
}

std::unique_ptr<trace::Source> TraceOption::preview(CoreLevel core) {
  return live_ ? live_->preview() : open_file(saved_.empty() ? trace_ : saved_, core);
}
std::unique_ptr<trace::Source> TraceOption::source(CoreLevel core) {
  return live_ ? live_->source() : open_file(saved_.empty() ? trace_ : saved_, core);
}

void TraceOption::end() {
  if (live_) value_or_fail(live_->finish());
  if (recording_ && !recording_->missing.empty()) say_lines(recording_->missing);
}

CtrlC TraceOption::ctrl_c() const { return is_live() ? CtrlC::program : CtrlC::command; }

bool TraceOption::replay_is_interrupted() const { return !is_live() && Interrupts::end_requested(); }

int TraceOption::ending_signal() const {
  return recording_ended_by_ != 0 ? recording_ended_by_ : Interrupts::caught();
}

bool TraceOption::recording_is_cut() const {
  return ending_signal() != 0 && recording_ && recording_->summary.stopped_early;
}

// A program that was stopped with its replay has not ended by itself.
int TraceOption::exit_status() const {
  if (!recording_ || recording_->summary.stopped_early) return 0;
  return shell_status(recording_->summary.status);
}

}  // namespace pmusim::tools

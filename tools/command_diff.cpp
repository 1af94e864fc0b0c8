// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "annotate/difference.h"
#include "base/suggest.h"
#include "command.h"
#include "model_option.h"
#include "output.h"
#include "pmusim/annotate/report.h"
#include "profile_option.h"
#include "program_argument.h"
#include "stat_file.h"
#include "trace_option.h"
#include "whole_replay.h"
#include "why/report.h"

namespace pmusim::tools {

namespace {

using annotate::ComparedSide;
using annotate::Comparison;
using annotate::Counting;

struct DiffCommand {
  std::vector<std::string> files, models, sort{"symbol"};
  annotate::DifferenceOptions shown;
  std::optional<std::string> html;
  bool json = false, quiet = false;
  annotate::Options options;
  ModelOption model;
};

enum class InputKind : u8 { profile, counts, trace };

constexpr std::array<const char*, 3> kind_names{"a profile", "counts of pmusim stat", "a trace"};

InputKind kind_of(const std::string& file) {
  if (is_trace(file)) return InputKind::trace;
  return is_stat_file(file) ? InputKind::counts : InputKind::profile;
}

InputKind common_kind(const std::vector<std::string>& files) {
  const InputKind first = kind_of(files.front()), last = kind_of(files.back());
  if (first != last)
    throw CommandError(fmt::format("{} is {}, and {} {}: expected two of a kind", files.front(),
                                   kind_names[static_cast<std::size_t>(first)], files.back(),
                                   kind_names[static_cast<std::size_t>(last)]));
  return first;
}

ComparedSide read_profile(const std::string& file, const annotate::Options& options) {
  ComparedSide side{.name = file, .report = value_or_fail(annotate::analyze(file, options)), .runs = {}};
  print_notes(side.report);
  return side;
}

/// One trace on a core as it is, and as --core-set changes it.
bool is_compared_by_core(const DiffCommand& command) {
  return command.files.size() == 1 && command.models.empty() && !command.model.core_set().empty();
}

/// What `pmusim why` counts of a trace.
why::Collection count_trace(const std::string& file, const CpuModel& model, const DiffCommand& command) {
  TraceOption trace({});
  trace.use_as_trace(file);
  why::Collection counted =
      replay_whole(trace, command.quiet, [&](trace::Source& source, const why::OnProgress& progress) {
        return why::collect(source, model, command.options.jit_directory.string(), progress);
      });
  if (const int signal = trace.ending_signal(); signal != 0) throw EndedBySignal{signal};
  return counted;
}

/// Of one trace its models or cores tell the sides apart, of two on one model their files.
std::array<std::string, 2> names_of_sides(const DiffCommand& command, const std::array<CpuModel, 2>& models) {
  const std::string &first = command.files.front(), &last = command.files.back();
  if (!command.models.empty())
    return {fmt::format("{} on {}", first, models[0].name), fmt::format("{} on {}", last, models[1].name)};
  if (is_compared_by_core(command)) return {first, fmt::format("{} with {}", last, command.model.core_set())};
  return {first, last};
}

/// The models of both sides.
std::array<CpuModel, 2> models_of(const DiffCommand& command) {
  if (is_compared_by_core(command)) return {command.model.model_with_own_core(), command.model.model()};
  if (command.models.empty()) return {command.model.model(), command.model.model()};
  std::array models{value_or_fail(find_cpu_model(command.models.front())),
                    value_or_fail(find_cpu_model(command.models.back()))};
  for (CpuModel& model : models) command.model.change(model);
  return models;
}

/// Columns that either side has something of.
std::vector<why::Column> counted_columns(const why::Collection& before, const why::Collection& after) {
  std::vector<why::Column> shown;
  for (std::size_t c = 0; c < why::columns; ++c) {
    const auto column = static_cast<why::Column>(c);
    if (before.total[column] != 0 || after.total[column] != 0) shown.push_back(column);
  }
  return shown;
}

Comparison compare_traces(const DiffCommand& command, const annotate::Options& options) {
  const std::string &first = command.files.front(), &last = command.files.back();
  const std::array<CpuModel, 2> models = models_of(command);
  const why::Collection before = count_trace(first, models[0], command);
  const why::Collection after = count_trace(last, models[1], command);
  const std::vector<why::Column> shown = counted_columns(before, after);
  const std::array<std::string, 2> names = names_of_sides(command, models);
  const auto side = [&](const std::string& name, const why::Collection& counted) {
    return ComparedSide{.name = name, .report = why::profile_of(counted, shown, options), .runs = {}};
  };
  return annotate::compare(side(names[0], before), side(names[1], after), Counting::exact);
}

/// Reads the first file first, whose sentences come before those of the second.
template <class Read>
Comparison compare_files(const DiffCommand& command, Counting counting, Read read) {
  const ComparedSide before = read(command.files.front());
  return annotate::compare(before, read(command.files.back()), counting);
}

Comparison compare_inputs(const DiffCommand& command) {
  const annotate::Options options = annotate::options_for_export(command.options);
  switch (common_kind(command.files)) {
    case InputKind::trace:
      return compare_traces(command, options);
    case InputKind::counts:
      return compare_files(command, Counting::exact, read_stat_file);
    case InputKind::profile:
      break;
  }
  return compare_files(command, Counting::sampled,
                       [&](const std::string& file) { return read_profile(file, options); });
}

std::string names_of_events(const Comparison& comparison) {
  std::string names;
  for (const annotate::EventChange& change : comparison.events)
    names += (names.empty() ? "" : ", ") + change.event;
  return names;
}

void check_event(const Comparison& comparison, const std::string& wanted) {
  if (comparison.events.empty())
    throw CommandError(fmt::format("no event is on both sides: {}", fmt::join(comparison.notes, "; ")));
  if (wanted.empty() ||
      std::ranges::find(comparison.events, wanted, &annotate::EventChange::event) != comparison.events.end())
    return;
  throw CommandError(fmt::format("--event {}: both sides have {}", wanted, names_of_events(comparison)));
}

void check(DiffCommand& command) {
  const bool one_side = command.files.size() == 1;
  if (!command.models.empty() && command.model.is_given())
    throw CommandError("--model, --models: give one model for two traces, or two models");
  if (!command.models.empty() && command.models.size() != 2)
    throw CommandError(fmt::format("--models {}: expected two, as --models skylake,goldencove",
                                   fmt::join(command.models, ",")));
  if (one_side && command.models.empty() && !is_compared_by_core(command))
    throw CommandError(
        fmt::format("{}: there is nothing to compare it with; expected two files, or a trace and "
                    "--models A,B or --core-set NAME=VALUE",
                    command.files.front()));
  const bool is_replayed =
      !command.models.empty() || command.model.is_given() || !command.model.core_set().empty();
  if (is_replayed && common_kind(command.files) != InputKind::trace)
    throw CommandError(fmt::format(
        "--model, --models, --core-set: are for traces, which are replayed; {} is {}", command.files.front(),
        kind_names[static_cast<std::size_t>(kind_of(command.files.front()))]));
  if (command.html) check_output_name(*command.html, command.files, "--html");
  command.shown.symbols = command.shown.lines = false;
  for (const std::string& key : command.sort)
    (key == "line" || key == "srcline" ? command.shown.lines : command.shown.symbols) = true;
}

void run_diff(DiffCommand& command) {
  check(command);
  const Comparison comparison = compare_inputs(command);
  check_event(comparison, command.shown.event);
  for (const std::string& note : comparison.notes) complain(note);
  if (command.html) return write_page(*command.html, annotate::difference_html(comparison));
  print_to(stdout, command.json ? annotate::difference_json(comparison) + '\n'
                                : annotate::difference_text(comparison, command.shown));
}

void add_diff_output_options(CLI::App& command, DiffCommand& c) {
  command.add_option("-s,--sort", c.sort, "symbol (sym), line (srcline): a table for each")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"symbol", "sym", "line", "srcline"}))
      ->capture_default_str();
  command.add_option("-e,--event", c.shown.event,
                     "Event whose functions and lines are shown (profiles: all; traces: cycles)");
  command
      .add_option("--least", c.shown.least_percent,
                  "Leave out functions and lines that changed by fewer percent points of the event")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_flag("--json,-j", c.json, "Print JSON, with all events, functions and lines");
  command
      .add_option("--html", c.html,
                  "Write a page for a browser to this file: what changed, and a flame graph coloured by it")
      ->type_name("FILE")
      ->excludes("--json");
  command.add_option("--debug-directory", c.options.debug_directory, "Where separate debug files are")
      ->capture_default_str();
  command.add_flag("-q,--quiet", c.quiet, "Show no progress");
}

}  // namespace

void add_diff(CLI::App& app) {
  auto options = std::make_shared<DiffCommand>();
  CLI::App* const command =
      app.add_subcommand("diff", "Compare two profiles, counts or traces, or a trace on two models or cores");
  command
      ->add_option(
          "files", options->files,
          "Before and after: two perf.data (of pmusim or of perf), two files of 'pmusim stat --json', or "
          "two traces; with --models or --core-set one trace")
      ->required()
      ->expected(1, 2);
  add_diff_output_options(*command, *options);
  options->model.add_to(*command);
  options->model.add_core_set_to(*command);
  command->add_option("--models", options->models, "Two models A,B: before on A, after on B")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->footer(
      "Functions and lines with the largest change come first; those of both sides are the same by their\n"
      "names and those of their files. Of profiles, Baseline is a function's share of the event before, and\n"
      "Delta what it has more of it after, in percent points. Traces are replayed, and counted exactly, as\n"
      "'pmusim why' does. p is how likely means so far apart are by chance alone ('stat -r' gives the "
      "runs).\n\n"
      "  pmusim diff perf.data.old perf.data\n"
      "  pmusim diff --html diff.html perf.data.old perf.data\n"
      "  pmusim diff --models skylake,goldencove T\n"
      "  pmusim diff --core-set L2=2MiB,rob=512 T     a trace on the model, and on what it might be\n"
      "  pmusim diff -s symbol,line before.pmutrace after.pmutrace\n"
      "  pmusim diff before.json after.json");
  command->callback([options] { run_diff(*options); });
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/suggest.h"
#include "output.h"
#include "pmusim/annotate/report.h"
#include "pmusim/cpu/setup.h"
#include "profile_option.h"
#include "report_browser.h"

namespace pmusim::tools {

namespace {

using annotate::Ranking;
using annotate::RankingField;
using annotate::RankingStacks;

struct ReportCommand {
  ProfileOption profile;
  std::vector<std::string> sort{"symbol"}, fields, modules;
  std::string symbol_filter, call_graph = "none", separator, export_format, event, cpus;
  std::string output = "-";
  double percent_limit = 0;
  bool children = false, no_children = false, header = false, browse = false;
  bool counts = false, side_by_side = false;  // which the tables have in any case
};

/// What a word of a list means, or the end of the command.
template <class T>
T word_of(std::string_view option, const std::string& word, const std::map<std::string_view, T>& words,
          std::string_view expected) {
  if (const auto found = words.find(word); found != words.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [name, value] : words) names.push_back(name);
  throw CommandError(fmt::format("{} {}: expected {}{}", option, word, expected, did_you_mean(word, names)));
}

const std::map<std::string_view, Ranking> rankings_by_name{
    {"symbol", Ranking::symbols},  {"sym", Ranking::symbols},   {"module", Ranking::modules},
    {"dso", Ranking::modules},     {"line", Ranking::lines},    {"srcline", Ranking::lines},
    {"branch", Ranking::branches}, {"comm", Ranking::commands}, {"pid", Ranking::processes},
    {"tid", Ranking::threads},     {"cpu", Ranking::cpus},      {"socket", Ranking::packages}};

const std::map<std::string_view, RankingField> fields_by_name{
    {"overhead", RankingField::overhead}, {"overhead_children", RankingField::children},
    {"children", RankingField::children}, {"sample", RankingField::samples},
    {"samples", RankingField::samples},   {"period", RankingField::period},
    {"dso", RankingField::module},        {"module", RankingField::module},
    {"sym", RankingField::symbol},        {"symbol", RankingField::symbol},
    {"srcline", RankingField::line},      {"line", RankingField::line}};

/// Linux has 8,192 at most.
constexpr u32 most_cpus = 8192;

using SetStacks = void (*)(annotate::RankingOptions& options);

/// perf's words of -g: how stacks are ordered, and what their percentages are of.
const std::map<std::string_view, SetStacks> stacks_by_name{
    {"none", [](annotate::RankingOptions& o) { o.stacks = RankingStacks::none; }},
    {"caller", [](annotate::RankingOptions& o) { o.stacks = RankingStacks::callees; }},
    {"callee", [](annotate::RankingOptions& o) { o.stacks = RankingStacks::callers; }},
    {"flat", [](annotate::RankingOptions& o) { o.stacks = RankingStacks::flat; }},
    {"graph", [](annotate::RankingOptions& o) { o.stack_shares = annotate::StackShares::of_all; }},
    {"fractal", [](annotate::RankingOptions& o) { o.stack_shares = annotate::StackShares::of_line_above; }}};

/// -g alone, and with no order among its words: caller, as perf.
void set_stacks(annotate::RankingOptions& options, const std::string& words) {
  if (words != "none") options.stacks = RankingStacks::callees;
  for (const std::string& word : CLI::detail::split(words, ','))
    if (!word.empty())
      word_of("-g", word, stacks_by_name, "caller, callee, flat, graph, fractal or none")(options);
}

annotate::RankingOptions ranking_options(const ReportCommand& command) {
  annotate::RankingOptions options;
  options.rankings.clear();
  for (const std::string& key : command.sort)
    options.rankings.push_back(word_of("--sort", key, rankings_by_name,
                                       "symbol, module, line, branch, comm, pid, tid, cpu or socket"));
  for (const std::string& field : command.fields)
    options.fields.push_back(
        word_of("-F", field, fields_by_name, "overhead, children, sample, period, dso, symbol or srcline"));
  set_stacks(options, command.call_graph);
  options.colours = terminal_colours();
  options.percent_limit = command.percent_limit;
  options.modules = command.modules;
  options.symbol_filter = command.symbol_filter;
  options.header = command.header;
  if (!command.separator.empty()) options.separator = command.separator;
  if (command.children) options.children = annotate::RankingChildren::ranked;
  if (command.no_children) options.children = annotate::RankingChildren::hidden;
  return options;
}

/// Where `file` does not say what a table is to be of, or of what the rows left are.
void check_rankings(const ReportCommand& command, const annotate::Report& report,
                    const annotate::RankingOptions& options) {
  for (const Ranking ranking : options.rankings) {
    if (ranking <= Ranking::branches) continue;
    if (!command.modules.empty() || !command.symbol_filter.empty())
      throw CommandError(
          "--sort comm, pid, tid, cpu and socket count all code: -d and --symbol-filter choose rows of code");
    if (report.totals.samples == 0) continue;
    const bool of_cpus = ranking == Ranking::cpus || ranking == Ranking::packages;
    if (of_cpus && report.cpus.empty())
      throw CommandError(
          "--sort: the samples do not have their CPU; perf record writes it with -a or --sample-cpu");
    if (!of_cpus && report.tasks.empty()) throw CommandError("--sort: the samples do not have their task");
  }
}

/// By its name, or by its number from 1 on.
u32 event_number(const annotate::Report& report, const std::string& wanted) {
  for (u32 number = 0; number < report.events.size(); ++number)
    if (wanted.empty() || wanted == report.events[number].name || wanted == fmt::format("{}", number + 1))
      return number;
  throw CommandError(fmt::format("--event {}: the profile has {}", wanted, event_names(report)));
}

annotate::ExportFormat export_format(const std::string& name) {
  if (const auto format = annotate::find_export_format(name)) return *format;
  const auto names = annotate::export_format_names();
  throw CommandError(
      fmt::format("--export {}: expected {}{}", name, fmt::join(names, ", "), did_you_mean(name, names)));
}

void run_export(ReportCommand& command) {
  const annotate::ExportFormat format = export_format(command.export_format);
  if (command.profile.html || command.profile.json)
    throw CommandError("--export goes with neither --html nor --json: each is all of the output");
  if (!command.event.empty() && annotate::holds_all_events(format))
    throw CommandError(fmt::format("--event: a file of {} holds all events", name_of(format)));
  check_output_name(command.output, std::span(&command.profile.input, 1));
  command.profile.options = annotate::options_for_export(command.profile.options);
  const annotate::Report report = command.profile.report();
  print_notes(report);
  const u32 event = event_number(report, command.event);
  const std::string file = annotate::export_profile(report, format, event);
  if (command.output == "-") return print_to(stdout, file);
  write_page(command.output, file);
}

/// As perf: on a terminal, unless what was asked for is for text alone.
bool is_browsed(const ReportCommand& command) {
  if (command.browse) return true;
  const bool of_text = command.profile.stdio || command.header || !command.separator.empty() ||
                       command.call_graph != "none" || command.sort.size() > 1 ||
                       command.profile.input == "-";
  return !of_text && can_browse();
}

void run_report(ReportCommand& command) {
  if (!command.cpus.empty())
    command.profile.options.samples.cpus = value_or_fail(parse_cpu_list(command.cpus, most_cpus));
  if (!command.export_format.empty()) return run_export(command);
  if (command.output != "-" || !command.event.empty())
    throw CommandError("-o and --event are of --export, which says the format");
  const annotate::RankingOptions options = ranking_options(command);
  const annotate::Report report = command.profile.report();
  print_notes(report);
  if (command.profile.print_other_than_text(report)) return;
  check_rankings(command, report, options);
  if (is_browsed(command)) return browse(report, options);
  fmt::print("{}", annotate::ranking_text(report, options));
}

void add_row_options(CLI::App& command, ReportCommand* c) {
  command.option_defaults()->group("Rows and columns");
  command
      .add_option("-s,--sort", c->sort,
                  "symbol (sym), module (dso), line (srcline), branch, comm, pid, tid, cpu, socket: a table "
                  "for each")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("-F,--fields", c->fields,
                  "Columns: overhead, overhead_children (children), sample, period, dso, symbol, srcline")
      ->delimiter(',');
  command.add_flag("-n,--show-nr-samples", c->counts, "Show numbers of samples, which is the default");
  command.add_flag("--group", c->side_by_side, "Show all events side by side, which is the default");
  command.add_option("--percent-limit", c->percent_limit, "Leave out rows below this many percent")
      ->check(CLI::Range(0.0, 100.0));
  command.add_option("-d,--dsos", c->modules, "Only rows of these modules (paths, or names of files)")
      ->delimiter(',');
  command.add_option("--symbol-filter", c->symbol_filter, "Only rows of functions with this in their name");
}

/// Under perf's names.
void add_sample_options(CLI::App& command, ReportCommand* c) {
  command.option_defaults()->group("Which samples");
  annotate::SampleChoice& choice = c->profile.options.samples;
  command.add_option("-c,--comms", choice.commands, "Only samples of tasks with these names")->delimiter(',');
  command.add_option("--pid", choice.pids, "Only samples of these processes")->delimiter(',');
  command.add_option("--tid", choice.tids, "Only samples of these threads")->delimiter(',');
  command.add_option("-C,--cpu", c->cpus, "Only samples that were taken on these CPUs: 0,2-3");
}

void add_stack_options(CLI::App& command, ReportCommand* c) {
  command.option_defaults()->group("Call stacks");
  CLI::Option* const ranked =
      command.add_flag("--children", c->children, "Rank functions by what they called, too");
  command.add_flag("--no-children", c->no_children, "Show no column of what functions called")
      ->excludes(ranked);
  command
      .add_option("-g,--call-graph", c->call_graph,
                  "Below each function: caller (what it called), callee (who called it), flat (each stack), "
                  "none; with "
                  ",fractal shares are of the line above instead of all")
      ->expected(0, 1)
      ->default_str("caller");
}

void add_output_options(CLI::App& command, ReportCommand* c) {
  command.option_defaults()->group("Output");
  command
      .add_flag("--tui", c->browse,
                "Browse on the terminal: the default there, but for --stdio and options that only text has")
      ->excludes("--stdio", "--html", "--json");
  command.add_option("-x,-t,--field-separator", c->separator,
                     "Text between fields instead of columns; '.' stands for it within names");
  command.add_flag("--header", c->header, "First print what the file says of the recording");
  command.add_option("--export", c->export_format,
                     fmt::format("Write the stacks in the format of another tool: {}",
                                 fmt::join(annotate::export_format_names(), ", ")));
  command.add_option("-o,--output", c->output, "File for --export; - is standard output")
      ->capture_default_str();
  command.add_option("--event", c->event,
                     "For formats that hold one event (collapsed, chrome): which, by name or number");
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<ReportCommand>();
  CLI::App* const command =
      app.add_subcommand("report", "Rank the symbols, modules, source lines and branches of a profile");
  options->profile.add_to(*command);
  add_sample_options(*command, options.get());
  add_row_options(*command, options.get());
  add_stack_options(*command, options.get());
  add_output_options(*command, options.get());
  command->footer(
      "Overhead is the share of the event's count; Children, where samples have call stacks, that of a "
      "function\nand all that it called.\n\n"
      "  pmusim report --sort symbol,line,branch\n"
      "  pmusim report --children -g caller --percent-limit 1\n"
      "  pmusim report --export collapsed -o stacks.txt");
  command->callback([options] { run_report(*options); });
}

}  // namespace pmusim::tools

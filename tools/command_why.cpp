// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "annotate/resolver.h"
#include "base/suggest.h"
#include "core_option.h"
#include "model_option.h"
#include "output.h"
#include "trace_option.h"
#include "whole_replay.h"
#include "why/report.h"

namespace pmusim::tools {

namespace {

struct WhyCommand {
  explicit WhyCommand(CommandLine line) : trace(std::move(line.program)) {}
  std::string symbol, syntax = "att";
  annotate::Options options;
  std::optional<std::string> html;
  bool json = false, quiet = false, verbose = false;
  unsigned topdown_level = 1, topdown_functions = 3;
  ModelOption model;
  StartOption start;
  TraceOption trace;
};

std::optional<u32> chosen_function(const why::Report& report, const std::string& wanted) {
  if (wanted.empty()) return std::nullopt;
  std::vector<std::string_view> names;
  for (u32 n = 0; n < report.functions.size(); ++n) {
    const why::Function& function = report.functions[n];
    if (annotate::has_name(function.name, function.linkage_name, wanted)) return n;
    names.push_back(function.name);
  }
  throw CommandError(
      fmt::format("{}: no function '{}' ran{}", report.title, wanted, did_you_mean(wanted, names)));
}

void check(const WhyCommand& command, const CLI::App& app) {
  command.trace.check(app);
  if (command.topdown_level > deepest_topdown_level)
    throw CommandError(fmt::format("--td-level {}: there are levels 1 to {}, and 0 leaves the tree out",
                                   command.topdown_level, deepest_topdown_level));
}

/// The tree that was asked for. A level that nobody asked for is no error where there is none: `problem` says
/// so.
std::optional<TopdownTree> tree_of(const WhyCommand& command, const CLI::App& app, const CpuModel& model,
                                   const trace::Contents& contents, std::string& problem) {
  if (command.topdown_level == 0) return std::nullopt;
  auto tree = TopdownTree::create(model, command.topdown_level, contents);
  if (tree.ok()) return std::move(tree).value();
  if (app.count("--td-level") != 0)
    throw CommandError(fmt::format("--td-level {}: {}", command.topdown_level, tree.error().message));
  problem = tree.error().message;
  return std::nullopt;
}

/// The hottest functions, or the one that was asked for.
std::vector<u32> functions_with_trees(const WhyCommand& command, const why::Report& report,
                                      std::optional<u32> chosen) {
  if (chosen) return {*chosen};
  std::vector<u32> hottest(std::min<std::size_t>(command.topdown_functions, report.functions.size()));
  std::iota(hottest.begin(), hottest.end(), u32{0});
  return hottest;
}

void run_why(WhyCommand& command, const CLI::App& app) {
  check(command, app);
  if (command.html) check_output_name(*command.html, command.trace.inputs(), "--html");
  if (command.syntax == "intel") command.options.syntax = annotate::Syntax::intel;
  const CpuModel model = command.model.model();
  const StartState start = command.start.state(command.trace);
  std::optional<TopdownTree> tree;
  std::string problem;
  const why::Collection collection =
      replay_whole(command.trace, command.quiet, [&](trace::Source& source, const why::OnProgress& progress) {
        tree = tree_of(command, app, model, source.contents(), problem);
        return why::collect(source, model, command.options.jit_directory.string(), progress, start,
                            tree ? &*tree : nullptr);
      });
  why::Report report = why::make_report(collection, command.options);
  report.title = command.trace.title();
  report.setting = why::setting_of(model, start);
  if (const int signal = command.trace.ending_signal(); signal != 0)
    report.notes.emplace_back("ended by a signal: this is of the part up to there");
  for (const std::string& note : report.notes) complain(fmt::format("{}: {}", report.title, note));
  const auto function = chosen_function(report, command.symbol);
  if (tree)
    report.topdown = topdown_of(report, std::move(*tree), functions_with_trees(command, report, function));
  else if (!problem.empty())
    report.topdown = why::Topdown{.problem = problem, .tree = {}, .parts = {}};
  if (command.html)
    write_page(*command.html, why::html_of(collection, report, command.options));
  else
    print_to(stdout, command.json
                         ? why::json_of(report, function) + "\n"
                         : why::text_of(report, function,
                                        command.verbose ? why::Detail::verbose : why::Detail::usual));
  if (const int signal = command.trace.ending_signal(); signal != 0) throw EndedBySignal{signal};
  if (command.trace.exit_status() != 0) throw ExitStatus{command.trace.exit_status()};
}

}  // namespace

void add_why(CLI::App& app, CommandLine line) {
  auto why_command = std::make_shared<WhyCommand>(std::move(line));
  CLI::App* const command =
      app.add_subcommand("why", "Say what the cycles of a program go to, line by line, and why");
  command->footer(
      "One replay counts cycles, instructions, mispredicts, cache and TLB misses and waits of every\n"
      "instruction; nothing is sampled. Cycles of an instruction are those from the retirement before it to\n"
      "its own; those in which the pipeline is refilled are the mispredicted branch's. Each sentence has "
      "its\n"
      "numbers. With a function's name its lines and instructions are shown.\n\n"
      "  pmusim why T\n"
      "  pmusim why T main\n"
      "  pmusim why --html why.html T\n"
      "  pmusim why --json --model goldencove -- true");
  command->option_defaults()->group("What is counted");
  command
      ->add_option("--td-level", why_command->topdown_level,
                   "Levels of the top-down tree: 1 to 6, as deep as the model's events go; 0 leaves it out")
      ->capture_default_str();
  command->option_defaults()->group("How it is shown");
  command
      ->add_option("--td-functions", why_command->topdown_functions,
                   "How many of the hottest functions have a top-down tree of their own")
      ->capture_default_str();
  command->add_flag("-v,--verbose", why_command->verbose,
                    "Show the events behind the nodes of the top-down tree (--json always has them)");
  command->add_flag("--json", why_command->json, "Print JSON: all functions, lines and instructions");
  command
      ->add_option("--html", why_command->html,
                   "Write one page for a browser: findings, loops, costs by line, code, flame graph")
      ->type_name("FILE")
      ->excludes("--json");
  command->add_option("--disassembler-style", why_command->syntax, "Syntax of the disassembly")
      ->check(CLI::IsMember({"att", "intel"}))
      ->capture_default_str();
  command
      ->add_option("--debug-directory", why_command->options.debug_directory,
                   "Where separate debug files are")
      ->capture_default_str();
  command->add_flag("-q,--quiet", why_command->quiet, "Show no progress");
  why_command->model.add_to(*command);
  why_command->model.add_core_set_to(*command);
  why_command->start.add_to(*command);
  why_command->trace.add_to(*command);
  command->add_option("symbol,-S,--symbol", why_command->symbol,
                      "Function to show with its lines and instructions (with '-- CMD': by --symbol)");
  command->callback([why_command, command] { run_why(*why_command, *command); });
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "profile_option.h"

namespace pmusim::tools {

namespace {

struct AnnotateCommand {
  ProfileOption profile;
  std::string syntax = "att";
};

bool is_shown(const annotate::Report& report, const annotate::AnnotatedFunction& function) {
  return std::ranges::any_of(report.symbols[function.symbol].weights,
                             [](const annotate::Weight& weight) { return weight.samples != 0; });
}

void run_annotate(AnnotateCommand command) {
  if (command.syntax == "intel") command.profile.options.syntax = annotate::Syntax::intel;
  const annotate::Report report = command.profile.report();
  print_notes(report);
  if (command.profile.print_other_than_text(report)) return;
  bool first = true;
  for (const annotate::AnnotatedFunction& function : report.functions) {
    if (!is_shown(report, function)) continue;
    fmt::print("{}{}", first ? "" : "\n", annotate::annotation_text(report, function, terminal_colours()));
    first = false;
  }
}

}  // namespace

void add_annotate(CLI::App& app) {
  auto options = std::make_shared<AnnotateCommand>();
  CLI::App* const command = app.add_subcommand(
      "annotate", "Show the code of a profile with what samples and branch stacks say of it");
  options->profile.add_to(*command);
  command->add_option("-M,--disassembler-style", options->syntax, "Syntax of the disassembly")
      ->check(CLI::IsMember({"att", "intel"}))
      ->capture_default_str();
  command->add_option(
      "symbol", options->profile.options.symbols,
      "Functions, from samples in them; without any, all functions with samples, from all samples");
  command->footer(
      "Behind the code stands, where the profile has branch stacks (record -b):\n"
      "  # +50.46%               half of the executions here came by a branch to this place\n"
      "  # -50.81% (p:50.35%)    half of the executions took this branch, half of those were predicted\n\n"
      "  pmusim record -e cycles:upp -c 1009 -b T && pmusim annotate main\n"
      "  pmusim annotate --html profile.html");
  command->callback([options] { run_annotate(*options); });
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/suggest.h"
#include "profile_option.h"

namespace pmusim::tools {

namespace {

struct ReportCommand {
  ProfileOption profile;
  std::vector<std::string> sort{"symbol"};
};

annotate::Ranking ranking_of(const std::string& key) {
  using annotate::Ranking;
  static const std::map<std::string_view, Ranking> rankings{
      {"symbol", Ranking::symbols}, {"sym", Ranking::symbols}, {"module", Ranking::modules},
      {"dso", Ranking::modules},    {"line", Ranking::lines},  {"srcline", Ranking::lines},
      {"branch", Ranking::branches}};
  if (const auto found = rankings.find(key); found != rankings.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [name, ranking] : rankings) names.push_back(name);
  throw CommandError(
      fmt::format("--sort {}: expected symbol, module, line or branch{}", key, did_you_mean(key, names)));
}

void run_report(const ReportCommand& command) {
  std::vector<annotate::Ranking> rankings;
  for (const std::string& key : command.sort) rankings.push_back(ranking_of(key));
  const annotate::Report report = command.profile.report();
  print_notes(report);
  if (command.profile.print_other_than_text(report)) return;
  fmt::print("{}", annotate::ranking_text(report, rankings, terminal_colours()));
}

}  // namespace

void add_report(CLI::App& app) {
  auto options = std::make_shared<ReportCommand>();
  CLI::App* const command =
      app.add_subcommand("report", "Rank the symbols, modules, source lines and branches of a profile");
  options->profile.add_to(*command);
  command
      ->add_option("-s,--sort", options->sort,
                   "symbol (sym), module (dso), line (srcline), branch: a table for each")
      ->delimiter(',')
      ->capture_default_str();
  command->footer(
      "Overhead is the share of the event's count; Children, where samples have call stacks, that of a "
      "function\nand all that it called.\n\n"
      "  pmusim report --sort symbol,line,branch");
  command->callback([options] { run_report(*options); });
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "output.h"
#include "perf_options.h"

namespace pmusim::tools {

namespace {

void show_help(const CLI::App& app, const std::vector<std::string>& topic) {
  if (topic == std::vector<std::string>{"perf-options"}) return print_to(stdout, perf_options_as_markdown());
  const CLI::App* command = &app;
  for (const std::string& name : topic) {
    const auto all = command->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; });
    if (all.empty())
      throw CommandError(
          fmt::format("no help on '{}'; 'pmusim --help' lists the commands", fmt::join(topic, " ")));
    command = all.front();
  }
  // The application's own help() would explain the subcommand that was parsed: this one.
  const std::shared_ptr<CLI::FormatterBase> formatter = app.get_formatter();
  print_to(stdout, command == &app ? formatter->make_help(&app, "pmusim", CLI::AppFormatMode::Normal)
                                   : command->help("pmusim"));
}

}  // namespace

void add_help(CLI::App& app) {
  auto topic = std::make_shared<std::vector<std::string>>();
  CLI::App* const help = app.add_subcommand("help", "Explain a command, or 'perf-options'");
  help->add_option("command", *topic, "the command, as 'trace record'; perf-options: what became of perf's");
  help->callback([&app, topic] { show_help(app, *topic); });
}

}  // namespace pmusim::tools

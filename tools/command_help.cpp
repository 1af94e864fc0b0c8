// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "completion.h"
#include "man_page.h"
#include "output.h"
#include "perf_options.h"

namespace pmusim::tools {

namespace {

struct HelpCommand {
  std::vector<std::string> topic;  ///< or the words to complete
  std::string man_pages;
  bool complete = false;
};

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

void run_help(const CLI::App& app, const HelpCommand& command) {
  if (!command.man_pages.empty()) return write_man_pages(app, command.man_pages);
  if (!command.complete) return show_help(app, command.topic);
  for (const std::string& word : completions(app, command.topic)) print_to(stdout, word + "\n");
}

}  // namespace

void add_help(CLI::App& app) {
  auto command = std::make_shared<HelpCommand>();
  CLI::App* const help = app.add_subcommand("help", "Explain a command, or 'perf-options'");
  help->add_option("command", command->topic,
                   "the command, as 'trace record'; perf-options: what became of perf's");
  // For the build and for shells.
  help->add_option("--man-pages", command->man_pages, "write all manual pages into a folder")->group("");
  help->add_flag("--complete", command->complete, "what the last word can become; give the words behind '--'")
      ->group("");
  help->callback([&app, command] { run_help(app, *command); });
}

}  // namespace pmusim::tools

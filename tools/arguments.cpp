// SPDX-License-Identifier: MIT
#include "arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "program_argument.h"

namespace pmusim::tools {

namespace {

/// Values attached to a short option in ways that the parser would take for further options.
std::string in_long_form(const std::string& argument) {
  if (argument.size() > 2 && argument.starts_with("-z") &&
      argument.find_first_not_of("=0123456789", 2) == std::string::npos)
    return "--compression-level=" + argument.substr(argument[2] == '=' ? 3 : 2);
  if (argument == "-I?" || argument == "-I=?") return "--intr-regs=?";
  return argument;
}

/// The subcommand that was named last.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::string option_name(const std::string& argument) { return argument.substr(0, argument.find('=')); }

std::string unexpected(const CLI::App& command) {
  const std::vector<std::string> rest = command.remaining();
  const auto option =
      std::ranges::find_if(rest, [](const std::string& a) { return a.size() > 1 && a[0] == '-'; });
  if (option == rest.end())
    return rest.empty() ? "" : fmt::format("'{}' is one argument too many", rest.front());
  std::vector<std::string> names;
  for (const CLI::Option* const known : command.get_options())
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  return fmt::format("unknown option '{}'{}", option_name(*option),
                     did_you_mean(option_name(*option), views));
}

}  // namespace

Arguments split_arguments(std::vector<std::string> all) {
  Arguments split{.line = {.all = all}};
  if (all.empty()) return split;
  const bool runs_programs =
      all.size() > 1 && (all[1] == "record" || all[1] == "stat" || all[1] == "why" || all[1] == "run");
  std::vector<std::string> arguments(all.begin() + 1, all.end());
  if (runs_programs) std::ranges::transform(arguments, arguments.begin(), in_long_form);
  const auto program = arguments.begin() + static_cast<std::ptrdiff_t>(find_program(arguments));
  const auto dashes = runs_programs ? std::find(arguments.begin(), program, "--") : program;
  split.parsed.assign(arguments.begin(), dashes);
  // The program's own arguments are as they were given.
  const auto given = all.begin() + 1 + (dashes - arguments.begin()) + (dashes == program ? 0 : 1);
  if (given < all.end()) split.line.program.assign(given, all.end());
  return split;
}

std::string sentence_of(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App& command = innermost(app);
  std::string text =
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) ? unexpected(command) : "";
  if (text.empty()) text = error.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return fmt::format("{}; '{} --help' explains the options", text, command.get_display_name());
}

}  // namespace pmusim::tools

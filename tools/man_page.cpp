// SPDX-License-Identifier: MIT
#include "man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "help_formatter.h"
#include "output.h"
#include "pmusim/base/types.h"
#include "pmusim/version.h"

namespace pmusim::tools {

namespace {

/// What man(7) would take for something else than the character, or print as a typographer would.
constexpr std::pair<char, std::string_view> spellings[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                                                           {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"},
                                                           {'"', "\\(dq"}};

/// Text that shows as it stands; lists without blanks may go on in the next line.
std::string literal(std::string_view text) {
  std::string result;
  char before = '\n';
  for (const char c : text) {
    if (before == '\n' && c == '.') result += "\\&";
    if (before == ',' && c != ' ' && c != '\n') result += "\\:";
    const auto* const spelling = std::ranges::find(spellings, c, &std::pair<char, std::string_view>::first);
    if (spelling == std::end(spellings))
      result += c;
    else
      result += spelling->second;
    before = c;
  }
  return result;
}

std::string full_name(const CLI::App& command, std::string_view separator) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr
             ? command.get_name()
             : fmt::format("{}{}{}", full_name(*parent, separator), separator, command.get_name());
}

std::vector<const CLI::App*> subcommands(const CLI::App& command) { return command.get_subcommands({}); }

/// "pmusim - a cycle-level PMU" without the name.
std::string summary(const CLI::App& command) {
  const std::string text = command.get_description(), name = command.get_name() + " - ";
  return text.starts_with(name) ? text.substr(name.size()) : text;
}

/// The names are ours to print; what is behind them (type, default, what excludes it) is the parser's.
struct Formatter : HelpFormatter {
  std::string synopsis(const CLI::App& command) const {
    const std::string usage = make_usage(&command, "");
    return usage.substr(usage.find(':') + 1);
  }
  std::string argument(const CLI::Option& option) const { return make_option_opts(&option); }
};

/// "-e,--event" as the reader sees it: "-e, --event".
std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : CLI::detail::split(option.get_name(option.get_positional(), true), ','))
    names += (names.empty() ? "" : ", ") + name;
  return names;
}

std::string entry(std::string_view name, std::string_view argument, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", literal(name), literal(argument), literal(text));
}

std::string entries(const std::vector<const CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* const option : options)
    text += entry(names_of(*option), Formatter().argument(*option), option->get_description());
  return text;
}

std::string section(std::string_view heading, std::string_view body) {
  return body.empty() ? "" : fmt::format(".SH {}\n{}", heading, body);
}

std::string arguments_section(const CLI::App& command) {
  return section("ARGUMENTS",
                 entries(command.get_options([](const CLI::Option* o) { return o->get_positional(); })));
}

std::string options_section(const CLI::App& command) {
  std::string text;
  for (const std::string& group : command.get_groups()) {
    const std::string body = entries(command.get_options(
        [&](const CLI::Option* o) { return o->get_group() == group && o->nonpositional(); }));
    if (group.empty() || body.empty()) continue;
    text += (group == "Options" ? "" : fmt::format(".SS {}\n", literal(group))) + body;
  }
  return section("OPTIONS", text);
}

std::string commands_section(const CLI::App& command) {
  std::string text;
  for (const CLI::App* const sub : subcommands(command))
    text += entry(sub->get_name(), "", sub->get_description());
  return section("COMMANDS", text);
}

enum class Lines : u8 { none, prose, example };

/// A footer is prose, and indented lines that are to stay lines: examples.
std::string description_section(const std::string& footer) {
  Lines kind = Lines::none;
  std::string text;
  const auto become = [&](Lines next) {
    if (kind == next) return;
    if (kind == Lines::example) text += ".EE\n.RE\n";
    if (next == Lines::example) text += ".PP\n.RS 2\n.EX\n";
    if (next == Lines::prose && !text.empty()) text += ".PP\n";
    kind = next;
  };
  for (const std::string& line : CLI::detail::split(footer, '\n')) {
    const bool is_example = line.starts_with("  ");
    become(line.empty() ? Lines::none : is_example ? Lines::example : Lines::prose);
    if (!line.empty()) text += literal(is_example ? line.substr(2) : line) + "\n";
  }
  become(Lines::none);
  return section("DESCRIPTION", text);
}

std::string see_also_section(const CLI::App& command) {
  std::string text;
  const auto add = [&](const CLI::App& other) {
    text += fmt::format("{}.BR {} (1)", text.empty() ? "" : ",\n", literal(man_name(other)));
  };
  if (command.get_parent() != nullptr) add(*command.get_parent());
  for (const CLI::App* const sub : subcommands(command)) add(*sub);
  return section("SEE ALSO", text + "\n");
}

}  // namespace

std::string man_name(const CLI::App& command) { return full_name(command, "-"); }

std::string man_page(const CLI::App& command) {
  std::string page =
      fmt::format(".TH \"{}\" 1 \"\" \"pmusim {}\" \"pmusim\"\n.SH NAME\n{} \\- {}\n",
                  literal(man_name(command)), version, literal(man_name(command)), literal(summary(command)));
  page += section("SYNOPSIS", fmt::format("\\fB{}\\fR{}", literal(full_name(command, " ")),
                                          literal(Formatter().synopsis(command))));
  page += description_section(command.get_footer());
  page += commands_section(command) + arguments_section(command) + options_section(command);
  page +=
      section("EXIT STATUS",
              "0, or what the program returned that a command ran; 2 after a sentence on standard error.\n");
  return page + see_also_section(command);
}

void write_man_pages(const CLI::App& command, const std::string& folder) {
  const std::filesystem::path path = std::filesystem::path(folder) / (man_name(command) + ".1");
  write_page(path, man_page(command));
  for (const CLI::App* const sub : subcommands(command)) write_man_pages(*sub, folder);
}

}  // namespace pmusim::tools

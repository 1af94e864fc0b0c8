// SPDX-License-Identifier: MIT
#include "perf_options.h"

#include <fmt/format.h>

#include "perf_option_table.h"

namespace pmusim::tools {

namespace {

std::string_view fate_name(Fate fate) {
  switch (fate) {
    case Fate::works:
      return "works";
    case Fate::fulfilled:
      return "always so";
    default:
      return "refused";
  }
}

std::string long_name(const PerfOption& option) {
  return std::string(option.names.substr(option.names.find("--")));
}

/// In a table cell.
std::string escaped_cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

}  // namespace

bool PerfOption::takes_value() const { return example.find_first_of("= ") != std::string_view::npos; }

std::span<const PerfOption> perf_options() { return perf_option_table; }

void add_other_perf_options(CLI::App& command) {
  for (const PerfOption& option : perf_options()) {
    if (option.command != command.get_name() || option.fate == Fate::works) continue;
    const bool refused = option.fate == Fate::refused;
    CLI::Option* const added =
        command.add_option(std::string(option.names), [&option](const CLI::results_t&) {
          if (option.fate == Fate::fulfilled) return true;
          throw CommandError(fmt::format("{}: {}", long_name(option), option.sentence));
        });
    added->group("")->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->trigger_on_parse();
    // A refusal does not wait for a value, lest the complaint be that it is missing.
    if (refused || !option.takes_value()) added->expected(0);
  }
}

std::string perf_options_as_markdown() {
  std::string text;
  for (const std::string_view command : {"record", "stat"}) {
    text += fmt::format("### perf {}\n\n| Option | Example | Here | |\n|---|---|---|---|\n", command);
    for (const PerfOption& option : perf_options())
      if (option.command == command)
        text += fmt::format("| `{}` | `{}` | {} | {} |\n", option.names, escaped_cell(option.example),
                            fate_name(option.fate), escaped_cell(option.sentence));
    text += "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace pmusim::tools

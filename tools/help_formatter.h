// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_HELP_FORMATTER_H
#define PMUSIM_TOOLS_HELP_FORMATTER_H

#include <CLI/CLI.hpp>
#include <string>

namespace pmusim::tools {

/// Of the program behind '--', which commands get without it, the parser knows nothing.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* command, std::string name) const override {
    std::string usage = CLI::Formatter::make_usage(command, std::move(name));
    usage.insert(usage.find_last_not_of('\n') + 1, program_of(*command));
    return usage;
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    std::string usage = CLI::Formatter::make_option_usage(option);
    const std::string once_or_more = "(1x)";
    if (usage.ends_with(once_or_more)) usage.replace(usage.size() - once_or_more.size(), usage.npos, "...");
    return usage;
  }

 private:
  static std::string program_of(const CLI::App& command) {
    if (command.get_name() == "run") return " -- CMD...";
    return command.get_option_no_throw("--save-trace") != nullptr ? " | -- CMD..." : "";
  }
};

}  // namespace pmusim::tools

#endif

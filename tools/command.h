#ifndef PMUSIM_TOOLS_COMMAND_H
#define PMUSIM_TOOLS_COMMAND_H

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pmusim/base/error.h"

namespace pmusim::tools {

/// Ends a command with a sentence on standard error and exit code 2.
struct CommandError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value, or the end of the command with the error's sentence.
template <class T, class E>
T value_or_fail(Result<T, E> result) {
  if (!result.ok()) throw CommandError(result.error().message);
  return std::move(result).value();
}

// One function per file tools/command_NAME.cpp adds its subcommand, with a callback that does the work:
// declare it here and call it in main.cpp.
// In the order of `pmusim --help`: what a newcomer needs first comes first.
void add_trace(CLI::App& app);
void add_stat(CLI::App& app);
void add_record(CLI::App& app, std::vector<std::string> command_line);
void add_script(CLI::App& app);
void add_report(CLI::App& app);
void add_annotate(CLI::App& app);
void add_models(CLI::App& app);
void add_msr(CLI::App& app);
void add_events(CLI::App& app);
void add_policies(CLI::App& app);
void add_pebs(CLI::App& app);
void add_experiment(CLI::App& app);
void add_scenario(CLI::App& app);

}  // namespace pmusim::tools

#endif

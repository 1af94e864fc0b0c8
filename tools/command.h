// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_COMMAND_H
#define PMUSIM_TOOLS_COMMAND_H

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "command_error.h"

namespace pmusim::tools {

/// What the shell handed over.
struct CommandLine {
  std::vector<std::string> all;      ///< with the name of the command, for headers of files
  std::vector<std::string> program;  ///< behind "--": to be recorded and replayed in one go
};

// One function per file tools/command_NAME.cpp adds its subcommand, with a callback that does the work:
// declare it here and call it in main.cpp.
// In the order of `pmusim --help`: what a newcomer needs first comes first.
void add_trace(CLI::App& app);
void add_trace_formats(CLI::App& trace);
void add_stat(CLI::App& app, CommandLine line);
void add_record(CLI::App& app, CommandLine line);
void add_why(CLI::App& app, CommandLine line);
void add_mem(CLI::App& app, CommandLine line);
void add_c2c(CLI::App& app);
void add_run(CLI::App& app, CommandLine line);
void add_script(CLI::App& app);
void add_report(CLI::App& app);
void add_diff(CLI::App& app);
void add_annotate(CLI::App& app);
void add_models(CLI::App& app);
void add_msr(CLI::App& app);
void add_events(CLI::App& app);
void add_list(CLI::App& app);
void add_policies(CLI::App& app);
void add_pebs(CLI::App& app);
void add_experiment(CLI::App& app);
void add_sweep(CLI::App& app);
void add_scenario(CLI::App& app);
void add_help(CLI::App& app);

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_ARGUMENTS_H
#define PMUSIM_TOOLS_ARGUMENTS_H

#include <string>
#include <vector>

#include "command.h"

namespace pmusim::tools {

/// The arguments of the process as the option parser takes them.
struct Arguments {
  std::vector<std::string> parsed;  ///< without the name of the command
  CommandLine line;
};

/// `record` and `stat` keep a program with its arguments for themselves, be it behind "--" or not; -z=N
/// becomes --compression-level=N, and -I?
/// --intr-regs=?, as perf takes them.
Arguments split_arguments(std::vector<std::string> all);

/// One sentence for what the parser could not use: which command, and which option or word is at fault.
std::string sentence_of(const CLI::ParseError& error, const CLI::App& app);

}  // namespace pmusim::tools

#endif

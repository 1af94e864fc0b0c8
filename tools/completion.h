// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_COMPLETION_H
#define PMUSIM_TOOLS_COMPLETION_H

#include <string>
#include <vector>

#include "command.h"

namespace pmusim::tools {

/// What the last of `words` can become: commands, options, or values of the option before it (models, events,
/// policies, kernels, or the words that it takes), each whole. `words` is a command line behind "pmusim", its
/// last word as far as it has been typed. Empty where nothing fits or a file's name is wanted.
std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_EXPERIMENT_H
#define PMUSIM_TOOLS_EXPERIMENT_H

#include "command.h"

namespace pmusim::tools {

// One function per experiment, in tools/experiment_NAME.cpp.
void add_experiment_acr(CLI::App& experiment);

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_STAT_FILE_H
#define PMUSIM_TOOLS_STAT_FILE_H

#include <string>

#include "annotate/difference.h"

namespace pmusim::tools {

/// Whether a file begins as JSON, which of the inputs of `pmusim diff` counts alone do.
bool is_stat_file(const std::string& path);

/// Counts as `pmusim stat --json` prints them, without those that were not supported. Ends the command with a
/// sentence if the file has anything else.
annotate::ComparedSide read_stat_file(const std::string& path);

}  // namespace pmusim::tools

#endif

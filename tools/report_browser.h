// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_REPORT_BROWSER_H
#define PMUSIM_TOOLS_REPORT_BROWSER_H

#include "pmusim/annotate/report.h"

namespace pmusim::tools {

/// Whether there is a terminal to browse in: both standard input and output are one that can be drawn on.
bool can_browse();

/// Shows the first of the options' rankings on the terminal until it is left: rows with search, and the code
/// of the row's function. What is shown is what ranking_text() and annotation_text() print. Ends the command
/// with a sentence if there is no such terminal.
void browse(const annotate::Report& report, const annotate::RankingOptions& options);

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_PAGER_H
#define PMUSIM_TOOLS_PAGER_H

namespace pmusim::tools {

/// Sends standard output, if it is a terminal, through the program that PMUSIM_PAGER or PAGER names, else
/// through less where that is installed. It starts with the first line of output. Where the name is empty or
/// `cat`, and on a terminal that cannot move its cursor, nothing changes. To be called at most once, and
/// before confine().
void start_pager();

/// Standard output is the terminal again, which gets what was printed so far.
void stop_pager();

/// Whether standard output is a terminal, or goes to one through the pager.
bool output_is_terminal();

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_MAN_PAGE_H
#define PMUSIM_TOOLS_MAN_PAGE_H

#include <string>

#include "command.h"

namespace pmusim::tools {

/// What the manual page of a command is called: "pmusim-trace-record".
std::string man_name(const CLI::App& command);

/// The manual page of a command, for man(7): all that its --help says, from the same text.
std::string man_page(const CLI::App& command);

/// Writes the pages of a command and of all below it into a folder, as NAME.1. Ends the command where that
/// fails.
void write_man_pages(const CLI::App& command, const std::string& folder);

}  // namespace pmusim::tools

#endif

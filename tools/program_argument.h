// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_PROGRAM_ARGUMENT_H
#define PMUSIM_TOOLS_PROGRAM_ARGUMENT_H

#include <string>
#include <vector>

namespace pmusim::tools {

/// Where a program's name stands in the arguments of `record` and `stat` that have no "--" before it, as perf
/// takes them; else their number. The name is the first argument that is no option and no option's value: a
/// trace, if it is a file that begins as one, or else an executable file or a command of PATH.
///
/// `arguments` begin with the name of the command.
std::size_t find_program(const std::vector<std::string>& arguments);

/// Whether a folder of PATH has an executable file of this name.
bool is_on_path(const std::string& name);

/// Whether a file begins as a trace.
bool is_trace(const std::string& path);

}  // namespace pmusim::tools

#endif

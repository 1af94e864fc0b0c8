// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_CORE_OPTION_H
#define PMUSIM_TOOLS_CORE_OPTION_H

#include <string>

#include "command.h"
#include "pmusim/session/session.h"
#include "trace_option.h"

namespace pmusim::tools {

/// --core LEVEL and --exact, as the commands that replay traces take them.
class CoreOption {
 public:
  void add_to(CLI::App& command);
  /// --error beside them, for those that can replay a trace more than once.
  void add_error_to(CLI::App& command);
  /// Sets what the options say. Ends the command on an unknown level.
  void apply_to(SessionOptions& options) const;
  /// Ends the command on an unknown one.
  CoreLevel level() const;
  /// Of --error: windows that come often enough. Ends the command where there can be none.
  void choose_windows(SessionOptions& options, TraceOption& trace) const;

 private:
  std::string name_{name_of(CoreLevel::interval)};
  bool exact_ = false;
  std::string error_;
};

/// --start cold|warm, as the commands that replay a whole trace take it.
class StartOption {
 public:
  void add_to(CLI::App& command);
  /// Ends the command on another word, and where the trace cannot be read twice.
  StartState state(const TraceOption& trace) const;

 private:
  std::string name_{name_of(StartState::cold)};
};

/// Leaves the registers of a replay out that nobody samples, unless its core asks for them: the whole core
/// has caches, and CLFLUSH names its line by registers.
void leave_registers_out(trace::Source& source, CoreLevel level);

}  // namespace pmusim::tools

#endif

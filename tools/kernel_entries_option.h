// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_KERNEL_ENTRIES_OPTION_H
#define PMUSIM_TOOLS_KERNEL_ENTRIES_OPTION_H

#include <string>

#include "command.h"
#include "pmusim/session/session.h"

namespace pmusim::tools {

/// --kernel-entries LIST, as the commands take it that count or sample a program.
class KernelEntriesOption {
 public:
  void add_to(CLI::App& command);
  bool is_given() const { return !list_.empty(); }
  /// Ends the command on a list that says nothing.
  void apply_to(SessionOptions& options) const;

 private:
  std::string list_;
};

}  // namespace pmusim::tools

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_KERNEL_OPTION_H
#define PMUSIM_TOOLS_KERNEL_OPTION_H

#include <string>

#include "command.h"
#include "pmusim/perf/abi.h"

namespace pmusim::tools {

/// --kernel V, as every command that emulates perf takes it.
class KernelOption {
 public:
  void add_to(CLI::App& command);
  /// Ends the command on an unknown kernel.
  perf::Kernel kernel() const;
  /// Whether the command line names one.
  bool given() const { return option_->count() != 0; }

 private:
  std::string name_{perf::name_of(perf::default_kernel)};
  CLI::Option* option_ = nullptr;
};

}  // namespace pmusim::tools

#endif

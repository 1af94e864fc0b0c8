// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_MODEL_OPTION_H
#define PMUSIM_TOOLS_MODEL_OPTION_H

#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "pmusim/cpu/model.h"
#include "pmusim/session/default_model.h"

namespace pmusim::tools {

/// --model M and --policy NAME=VALUE, as every command that emulates a CPU takes them.
class ModelOption {
 public:
  explicit ModelOption(std::string name = default_model) : name_(std::move(name)) {}

  void add_to(CLI::App& command);
  /// The model chosen, with its policies changed. Ends the command on an unknown model or policy.
  CpuModel model() const;

 private:
  std::string name_;
  std::vector<std::string> policies_;
};

}  // namespace pmusim::tools

#endif

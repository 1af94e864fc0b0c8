// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_MODEL_OPTION_H
#define PMUSIM_TOOLS_MODEL_OPTION_H

#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "pmusim/cpu/model.h"
#include "pmusim/session/session.h"

namespace pmusim::tools {

/// --model M and --policy NAME=VALUE, as every command that emulates a CPU takes them, and --core-set
/// NAME=VALUE of those that replay on a core.
class ModelOption {
 public:
  explicit ModelOption(std::string name = default_model) : name_(std::move(name)) {}

  void add_to(CLI::App& command);
  /// --core-set, beside add_to().
  void add_core_set_to(CLI::App& command);
  /// The model chosen, with its policies changed. Ends the command on an unknown model or policy.
  CpuModel model() const;
  /// The same with the core as it is, whatever --core-set says.
  CpuModel model_with_own_core() const;
  /// What --core-set says, as one list; empty: nothing.
  std::string core_set() const;
  /// Whether there is a --model.
  bool is_given() const { return option_ != nullptr && option_->count() != 0; }
  /// Changes another model as its own: policies, and parameters of the core. Ends the command on a name that
  /// is unknown or a value that is none.
  void change(CpuModel& model) const;

 private:
  void change_policies(CpuModel& model) const;
  std::string name_;
  CLI::Option* option_ = nullptr;
  std::vector<std::string> policies_, core_sets_;
};

}  // namespace pmusim::tools

#endif

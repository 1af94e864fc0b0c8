// SPDX-License-Identifier: MIT
#include "model_option.h"

#include <fmt/format.h>

#include "cpu/model_names.h"
#include "output.h"
#include "pmusim/cpu/core_parameters.h"

namespace pmusim::tools {

void ModelOption::add_to(CLI::App& command) {
  command.option_defaults()->group("The CPU");
  option_ = command.add_option("--model", name_, "CPU to emulate; 'pmusim models' lists them")
                ->capture_default_str();
  command
      .add_option("--policy", policies_,
                  "NAME=VALUE: choose what manuals leave open; 'pmusim policies' lists them")
      ->allow_extra_args(false);
}

void ModelOption::add_core_set_to(CLI::App& command) {
  command
      .add_option("--core-set", core_sets_,
                  "Change the core: sizes, widths, latencies, predictors, rules, as L2=2MiB,rob=512; 'pmusim "
                  "models --parameters' lists them")
      ->option_text("NAME=VALUE,...")
      ->allow_extra_args(false);
}

CpuModel ModelOption::model_with_own_core() const {
  CpuModel model = value_or_fail(find_cpu_model(name_));
  if (const ModelAlias* const alias = find_model_alias(name_); alias != nullptr && !alias->e_core.empty())
    print_to(stderr, fmt::format("{}: this is its P core, {}; its E core is --model {}\n", name_,
                                 alias->model, alias->e_core));
  change_policies(model);
  return model;
}

CpuModel ModelOption::model() const {
  CpuModel model = model_with_own_core();
  change(model);
  return model;
}

std::string ModelOption::core_set() const { return fmt::format("{}", fmt::join(core_sets_, ",")); }

void ModelOption::change_policies(CpuModel& model) const {
  for (const std::string& policy : policies_) {
    const std::size_t equals = policy.find('=');
    if (equals == std::string::npos)
      throw CommandError(fmt::format("--policy {}: expected NAME=VALUE", policy));
    static_cast<void>(
        value_or_fail(set_policy(model.policies, policy.substr(0, equals), policy.substr(equals + 1))));
  }
}

void ModelOption::change(CpuModel& model) const {
  change_policies(model);
  for (const std::string& list : core_sets_)
    if (const auto chosen = set_core_parameters(model.core, list); !chosen.ok())
      throw CommandError(fmt::format("--core-set {}: {}", list, chosen.error().message));
}

}  // namespace pmusim::tools

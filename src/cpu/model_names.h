// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_MODEL_NAMES_H
#define PMUSIM_CPU_MODEL_NAMES_H

#include <span>
#include <string_view>

namespace pmusim {

/// A product's name that people know, for a model under its core's name.
struct ModelAlias {
  std::string_view name;
  std::string_view model;   ///< of cpu_models(); of a hybrid product the P core
  std::string_view e_core;  ///< the other model of a hybrid product, else empty
};

/// find_cpu_model() takes each of them.
std::span<const ModelAlias> model_aliases();

/// Null where `name` is no alias. '-' and '_' are the same.
const ModelAlias* find_model_alias(std::string_view name);

}  // namespace pmusim

#endif

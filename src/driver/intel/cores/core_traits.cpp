// SPDX-License-Identifier: MIT
#include "driver/intel/cores/core_traits.h"

#include <algorithm>

#include "driver/intel/cores/cores.h"

namespace pmusim::driver {

const CoreTraits& traits_of(Microarchitecture core) {
  const auto all = cores::all();
  const auto found = std::ranges::find(all, core, [](const CoreTraits* traits) { return traits->core; });
  return found == all.end() ? cores::architectural::traits : **found;
}

ProductTraits product_traits(const CoreTraits& core, u32 model) {
  const auto found = std::ranges::find(core.products, model, &ProductTraits::model);
  return found == core.products.end() ? ProductTraits{} : *found;
}

CoreTraits core_traits(const Enumeration& enumeration) {
  CoreTraits traits = traits_of(enumeration.microarchitecture);
  if (traits.corrected && perf::has(enumeration.kernel, change::corrected_tables)) {
    traits.constraints = traits.corrected->constraints;
    if (!traits.corrected->extra_registers.empty())
      traits.extra_registers = traits.corrected->extra_registers;
  }
  const ProductTraits product = product_traits(traits, enumeration.model);
  if (!product.extra_registers.empty()) traits.extra_registers = product.extra_registers;
  if (enumeration.has_tables()) return traits;
  if (enumeration.perfmon_version < 5) traits.constraints.fixed = traits.constraints_before_version_5;
  traits.pebs_on_all_counters = enumeration.pebs_baseline || enumeration.arch_pebs();
  return traits;
}

}  // namespace pmusim::driver

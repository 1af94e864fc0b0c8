// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/suggest.h"
#include "cores/cores.h"
#include "cpu/model_names.h"
#include "cpu/tables/parameters.h"
#include "pmusim/arch/debug_store.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

u64 CpuModel::pebs_groups() const {
  u64 groups = u64{pebs.arch_capabilities} << 32;
  if (has_arch_pebs() && policies.pebs_vector_groups != 0)
    for (const pebs::VectorGroup& group : pebs::vector_groups)
      if ((xcr0 & bit(group.component)) != 0) groups |= group.bit;
  return groups;
}

std::span<const CpuModel> cpu_models(Vendor vendor) {
  const auto presets_of = [](Vendor wanted) {
    std::vector<CpuModel> presets;
    for (const CoreFacts* facts : cores::all()) {
      for (const Preset preset : facts->presets) {
        CpuModel model = preset();
        model.events = facts->events;
        tables::set_parameters(model.core, model.name);
        if (model.vendor == wanted) presets.push_back(std::move(model));
      }
    }
    return presets;
  };
  static const std::vector<CpuModel> intel = presets_of(Vendor::intel), amd = presets_of(Vendor::amd);
  return vendor == Vendor::amd ? amd : intel;
}

Result<CpuModel, Error> find_cpu_model(std::string_view name) {
  if (const ModelAlias* const alias = find_model_alias(name)) return find_cpu_model(alias->model);
  std::vector<std::string_view> names;
  for (const ModelAlias& alias : model_aliases()) names.push_back(alias.name);
  for (const Vendor vendor : {Vendor::intel, Vendor::amd}) {
    for (const CpuModel& model : cpu_models(vendor)) {
      if (model.name == name) return model;
      names.push_back(model.name);
    }
  }
  const std::string hint = did_you_mean(name, names);
  return Failure(Error(fmt::format("unknown CPU model '{}'{}", name,
                                   hint.empty() ? "; 'pmusim models' lists them all" : hint)));
}

}  // namespace pmusim

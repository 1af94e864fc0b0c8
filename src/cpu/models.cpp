// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <utility>

#include "base/suggest.h"
#include "cores/cores.h"
#include "cpu/amd_cpuid.h"
#include "cpu/model_names.h"
#include "cpu/tables/costs.h"
#include "cpu/tables/features.h"
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

namespace {

CpuModel model_of(const CoreFacts& facts, const Preset& preset) {
  CpuModel model;
  model.name = preset.name;
  model.title = preset.title;
  model.pfm_name = preset.pfm_name;
  model.core_type = facts.type;
  model.events = facts.events;
  model.core.costs = &tables::costs_of(preset.costs);
  tables::set_features(model);
  tables::set_parameters(model.core, model.name);
  if (model.vendor == Vendor::amd) derive_from_cpuid(model);
  return model;
}

std::vector<CpuModel> presets_of(Vendor vendor) {
  std::vector<CpuModel> models;
  for (const CoreFacts* facts : cores::all())
    for (const Preset& preset : facts->presets)
      if (CpuModel model = model_of(*facts, preset); model.vendor == vendor)
        models.push_back(std::move(model));
  return models;
}

}  // namespace

std::span<const CpuModel> cpu_models(Vendor vendor) {
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

#include <fmt/format.h>

#include "pmusim/base/suggest.h"
#include "pmusim/cpu/event_tables.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/model_names.h"
#include "presets.h"

namespace pmusim {

std::span<const CpuModel> cpu_models() {
  static const std::vector<CpuModel> models = [] {
    std::vector<CpuModel> all = {
        presets::yonah(),          presets::core2(),
        presets::penryn(),         presets::nehalem(),
        presets::westmere(),       presets::sandybridge(),
        presets::ivybridge(),      presets::haswell(),
        presets::broadwell(),      presets::skylake(),
        presets::skylake_x(),      presets::cascadelake(),
        presets::cannonlake(),     presets::icelake(),
        presets::icelake_server(), presets::tigerlake(),
        presets::rocketlake(),     presets::goldencove(),
        presets::sapphirerapids(), presets::emeraldrapids(),
        presets::redwoodcove(),    presets::graniterapids(),
        presets::lioncove(),       presets::arrowlake_h(),
        presets::cougarcove(),     presets::diamondrapids(),
        presets::coyotecove(),     presets::bonnell(),
        presets::silvermont(),     presets::knightslanding(),
        presets::goldmont(),       presets::goldmont_plus(),
        presets::tremont(),        presets::gracemont(),
        presets::crestmont(),      presets::sierraforest(),
        presets::skymont(),        presets::arrowlake_h_atom(),
        presets::darkmont(),       presets::clearwaterforest(),
        presets::arcticwolf(),
    };
    for (CpuModel& model : all) model.events = event_table(model.microarchitecture());
    return all;
  }();
  return models;
}

Result<CpuModel, Error> find_cpu_model(std::string_view name) {
  if (const ModelAlias* const alias = find_model_alias(name)) return find_cpu_model(alias->model);
  std::vector<std::string_view> names;
  for (const ModelAlias& alias : model_aliases()) names.push_back(alias.name);
  for (const CpuModel& model : cpu_models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  const std::string hint = did_you_mean(name, names);
  return Failure(Error(fmt::format("unknown CPU model '{}'{}", name,
                                   hint.empty() ? "; 'pmusim models' lists them all" : hint)));
}

}  // namespace pmusim

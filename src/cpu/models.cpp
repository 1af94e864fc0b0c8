#include <fmt/format.h>

#include "pmusim/base/suggest.h"
#include "pmusim/cpu/event_tables.h"
#include "pmusim/cpu/model.h"
#include "presets.h"

namespace pmusim {

std::span<const CpuModel> cpu_models() {
  static const std::vector<CpuModel> models = [] {
    std::vector<CpuModel> presets = {
        presets::icelake(),
        presets::icelake_server(),
    };
    for (CpuModel& model : presets) model.events = event_table(model.microarchitecture());
    return presets;
  }();
  return models;
}

Result<CpuModel, Error> find_cpu_model(std::string_view name) {
  std::vector<std::string_view> names;
  for (const CpuModel& model : cpu_models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  const std::string hint = did_you_mean(name, names);
  return Failure(Error(fmt::format("unknown CPU model '{}'{}", name,
                                   hint.empty() ? "; 'pmusim models' lists them all" : hint)));
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include "parameter_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cpu/model_facts.h"
#include "pmusim/cpu/core_parameters.h"

namespace pmusim::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view introduction =
    "# What can be chosen of a core\n\n"
    "Parameters that `--core-set NAME=VALUE,...` of `record`, `stat`, `why`, `mem report`, `run` and "
    "`experiment` takes,\n"
    "`\"core_sets\"` of a sweep and `set_core_parameters()` of "
    "`pmusim/cpu/core_parameters.h`. Names\n"
    "and short names may be written in letters of either case, sizes as 48K, 256KiB or 2M, frequencies as "
    "3G. `pmusim models\n"
    "--parameters MODEL` shows what a model has and how each value is known; `pmusim models --parameters "
    "--markdown` prints this\n"
    "page.\n\n"
    "| Name | Short | Range | What it is |\n|---|---|---|---|\n";

std::string shown_value(const CoreParameter& parameter, u64 value) {
  const std::string_view unit = parameter.unit == ParameterUnit::bytes ? "" : name_of(parameter.unit);
  return fmt::format("{}{}{}", value_text(parameter, value), unit.empty() ? "" : " ", unit);
}

std::string table_of_ranges() {
  std::string text = fmt::format("{:<32} {:<15} {:<41} MEANING\n", "NAME", "SHORT", "RANGE");
  for (const CoreParameter& p : core_parameters())
    text += fmt::format("{:<32} {:<15} {:<41} {}\n", p.name, p.short_name, range_text(p), p.meaning);
  return text;
}

std::string table_of(const CpuModel& model) {
  std::string text = fmt::format("{} ({})\n{:<32} {:<15} {:<16} {:<10} {:<41} MEANING\n", model.title,
                                 model.name, "NAME", "SHORT", "VALUE", "KNOWN FROM", "RANGE");
  for (const CoreParameter& p : core_parameters())
    text += fmt::format("{:<32} {:<15} {:<16} {:<10} {:<41} {}\n", p.name, p.short_name,
                        shown_value(p, p.get(model.core)), name_of(source_of(model, p)), range_text(p),
                        p.meaning);
  return text;
}

Json json_of_value(const CoreParameter& parameter, u64 value) {
  return parameter.names.empty() ? Json(value) : Json(value_text(parameter, value));
}

Json json_of(const CoreParameter& parameter, const CpuModel* model) {
  Json json{{"name", parameter.name}};
  if (!parameter.short_name.empty()) json["short_name"] = parameter.short_name;
  if (model != nullptr) {
    json["value"] = json_of_value(parameter, parameter.get(model->core));
    json["source"] = name_of(source_of(*model, parameter));
  }
  json["unit"] = name_of(parameter.unit);
  if (parameter.names.empty()) {
    json["least"] = parameter.least;
    json["most"] = parameter.most;
  } else {
    json["names"] = parameter.names;
  }
  if (parameter.shape == ParameterShape::power_of_two) json["shape"] = "power of two";
  if (parameter.shape == ParameterShape::multiple_of_4) json["shape"] = "multiple of 4";
  json["meaning"] = parameter.meaning;
  return json;
}

Json list_of(const CpuModel* model) {
  Json list = Json::array();
  for (const CoreParameter& parameter : core_parameters()) list.push_back(json_of(parameter, model));
  return list;
}

}  // namespace

std::string parameter_table(const std::vector<const CpuModel*>& models) {
  if (models.empty()) return table_of_ranges();
  std::string text;
  for (const CpuModel* const model : models) text += (text.empty() ? "" : "\n") + table_of(*model);
  return text;
}

Json parameter_json(const std::vector<const CpuModel*>& models) {
  if (models.empty()) return list_of(nullptr);
  Json all = Json::array();
  for (const CpuModel* const model : models)
    all.push_back({{"model", model->name}, {"parameters", list_of(model)}});
  return all;
}

std::string parameter_page() {
  std::string page(introduction);
  for (const CoreParameter& p : core_parameters())
    page +=
        fmt::format("| `{}` | {} | {} | {} |\n", p.name,
                    p.short_name.empty() ? "" : fmt::format("`{}`", p.short_name), range_text(p), p.meaning);
  return page;
}

}  // namespace pmusim::tools

// SPDX-License-Identifier: MIT
#include "model_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cpu/model_facts.h"
#include "pmusim/cpu/core_parameters.h"

namespace pmusim::tools {
namespace {

constexpr std::string_view introduction =
    "# CPU models as claims\n\n"
    "What each model claims, and where the claim is from. `pmusim models --markdown` prints this page from "
    "the data of\n"
    "the presets (`src/cpu/model_facts.cpp`, `src/cpu/tables/`); a test holds it to that. `pmusim models "
    "--diff A B` shows how\n"
    "two models differ, `pmusim policies` what manuals leave open on all of them.\n\n";

constexpr std::array origins{FactOrigin::dumped,  FactOrigin::logged, FactOrigin::documented,
                             FactOrigin::driven,  FactOrigin::listed, FactOrigin::computed,
                             FactOrigin::inferred};
constexpr std::array page_sources{FactSource::measured, FactSource::cpuid,    FactSource::published,
                                  FactSource::compiler, FactSource::recalled, FactSource::inferred};

std::string number_text(const CoreNumber& number) {
  if (number.cache == nullptr) return fmt::format("{} {}", number.name, number.value);
  const CacheGeometry& cache = number.geometry;
  if (cache.bytes == 0) return fmt::format("{} none", number.name);
  return fmt::format("{} {} KiB, {} ways, {} cycles", number.name, cache.bytes / 1024, cache.ways,
                     cache.latency_cycles);
}

std::string words() {
  std::string text = "| Word | Means |\n|---|---|\n";
  for (const FactOrigin origin : origins)
    text += fmt::format("| {} | {} |\n", name_of(origin), meaning_of(origin));
  for (const FactSource source : page_sources)
    if (source != FactSource::inferred)
      text += fmt::format("| {} | {} |\n", name_of(source), meaning_of(source));
  return text;
}

std::string documents() {
  std::string text = "\n| Fact | Look it up in |\n|---|---|\n";
  for (const ModelFact& fact : model_facts()) text += fmt::format("| {} | {} |\n", fact.name, fact.document);
  return text;
}

/// How many claims of a model are inferred: the shortest answer to how far to trust it.
std::string overview(const std::vector<const CpuModel*>& models) {
  std::string text =
      "\n## How much is guessed\n\n| Model | PMU facts | of them inferred | timing numbers | of them "
      "inferred or recalled |\n"
      "|---|---|---|---|---|\n";
  for (const CpuModel* model : models) {
    const auto has = [&](const ModelFact& fact) { return !fact.value(*model).empty(); };
    const auto guessed = [&](const ModelFact& fact) {
      return has(fact) && fact.origin_of(model->name) == FactOrigin::inferred;
    };
    const std::vector<CoreNumber> numbers = core_numbers(*model);
    const auto unsure = [](const CoreNumber& n) {
      return n.source == FactSource::inferred || n.source == FactSource::recalled;
    };
    text +=
        fmt::format("| {} | {} | {} | {} | {} |\n", model->name, std::ranges::count_if(model_facts(), has),
                    std::ranges::count_if(model_facts(), guessed), numbers.size(),
                    std::ranges::count_if(numbers, unsure));
  }
  return text;
}

std::string section(const CpuModel& model) {
  std::string text =
      fmt::format("\n## {}\n\n{}\n\n| Fact | Value | Known from |\n|---|---|---|\n", model.name, model.title);
  for (const ModelFact& fact : model_facts())
    if (const std::string value = fact.value(model); !value.empty())
      text += fmt::format("| {} | {} | {} |\n", fact.name, value, name_of(fact.origin_of(model.name)));
  const std::vector<CoreNumber> numbers = core_numbers(model);
  for (const FactSource source : page_sources) {
    std::string list;
    for (const CoreNumber& number : numbers)
      if (number.source == source) list += (list.empty() ? "" : "; ") + number_text(number);
    if (!list.empty()) text += fmt::format("| timing | {} | {} |\n", list, name_of(source));
  }
  return text;
}

}  // namespace

std::string page_of(const std::vector<const CpuModel*>& models) {
  std::string page(introduction);
  page += words() + documents() + overview(models);
  for (const CpuModel* model : models) page += section(*model);
  return page;
}

}  // namespace pmusim::tools

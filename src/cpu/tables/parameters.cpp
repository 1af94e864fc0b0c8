// SPDX-License-Identifier: MIT
#include "cpu/tables/parameters.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/split.h"
#include "cpu/parameter_values.h"
#include "cpu/tables/parameters/bonnell_to_tremont.h"
#include "cpu/tables/parameters/genoa_to_strix.h"
#include "cpu/tables/parameters/goldencove_to_coyotecove.h"
#include "cpu/tables/parameters/gracemont_to_arcticwolf.h"
#include "cpu/tables/parameters/naples_to_milan.h"
#include "cpu/tables/parameters/skylake_to_rocketlake.h"
#include "cpu/tables/parameters/yonah_to_broadwell.h"
#include "cpu/tables/text_table.h"

namespace pmusim::tables {
namespace {

constexpr std::string_view parameter_texts[] = {
    parameters::yonah_to_broadwell, parameters::skylake_to_rocketlake,   parameters::goldencove_to_coyotecove,
    parameters::bonnell_to_tremont, parameters::gracemont_to_arcticwolf, parameters::naples_to_milan,
    parameters::genoa_to_strix,
};

struct CacheRow {
  std::string_view name;
  CacheGeometry CoreParameters::*member;
};
constexpr CacheRow cache_rows[] = {{"l1i", &CoreParameters::l1i},
                                   {"l1d", &CoreParameters::l1d},
                                   {"l2", &CoreParameters::l2},
                                   {"l3", &CoreParameters::l3}};

struct Mark {
  char letter;
  FactSource source;
};
constexpr Mark marks[] = {{0, FactSource::none},       {'m', FactSource::measured},
                          {'c', FactSource::cpuid},    {'p', FactSource::published},
                          {'l', FactSource::compiler}, {'r', FactSource::recalled},
                          {'i', FactSource::inferred}};

std::optional<CacheGeometry> geometry_of(std::string_view word) {
  std::vector<u32> numbers;
  for (const std::string_view part : split(word, '/'))
    if (const auto number = number_of(part, ParameterUnit::bytes))
      numbers.push_back(static_cast<u32>(*number));
  if (numbers.size() != 3) return std::nullopt;
  return CacheGeometry{.bytes = numbers[0], .ways = numbers[1], .latency_cycles = numbers[2]};
}

/// What all numbers of a row have in common.
CoreNumber number_of_row(std::string_view name) {
  const auto cache = std::ranges::find(cache_rows, name, &CacheRow::name);
  if (cache != std::end(cache_rows)) return {.name = cache->name, .cache = cache->member};
  const auto parameter = std::ranges::find(core_parameters(), name, &CoreParameter::name);
  if (parameter == core_parameters().end()) refuse_row(name, "core parameter");
  return {.name = parameter->name, .parameter = &*parameter};
}

CoreNumber number_of_cell(const CoreNumber& row, const Cell& cell, std::string_view model) {
  CoreNumber number = row;
  const auto mark = std::ranges::find(marks, cell.mark, &Mark::letter);
  if (mark == std::end(marks))
    refuse_cell(row.name, model, std::string_view(&cell.mark, 1), "a mark of m, c, p, l, r or i");
  number.source = mark->source;
  if (cell.word == nothing) {
    number = {.name = row.name, .source = number.source};
  } else if (row.cache != nullptr) {
    const auto geometry = geometry_of(cell.word);
    if (!geometry) refuse_cell(row.name, model, cell.word, "bytes/ways/cycles");
    number.geometry = *geometry;
  } else {
    const auto value = value_of(*row.parameter, cell.word);
    if (!value) refuse_cell(row.name, model, cell.word, range_text(*row.parameter));
    number.value = *value;
  }
  return number;
}

}  // namespace

void add_numbers(NumbersByModel& numbers, std::string_view text) {
  const TextTable table = read_table(text);
  for (const CoreParameter& parameter : core_parameters()) (void)row_of(table, parameter.listed_as);
  for (const Row& row : table.rows) {
    const CoreNumber common = number_of_row(row.name);
    for (std::size_t n = 0; n < table.columns.size(); ++n)
      numbers[table.columns[n]].push_back(number_of_cell(common, row.cells[n], table.columns[n]));
  }
}

void set_parameters(CoreParameters& core, std::string_view model) {
  static const NumbersByModel all = [] {
    NumbersByModel numbers;
    for (const std::string_view text : parameter_texts) add_numbers(numbers, text);
    return numbers;
  }();
  core.numbers = all.at(model);
  for (const CoreNumber& number : core.numbers) {
    if (number.cache != nullptr) core.*number.cache = number.geometry;
    if (number.parameter != nullptr) number.parameter->set(core, number.value);
  }
}

}  // namespace pmusim::tables

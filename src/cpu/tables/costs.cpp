// SPDX-License-Identifier: MIT
#include "cpu/tables/costs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/split.h"
#include "cpu/tables/costs/bonnell_to_tremont.h"
#include "cpu/tables/costs/goldencove_to_lioncove.h"
#include "cpu/tables/costs/gracemont_to_skymont.h"
#include "cpu/tables/costs/skylake_to_rocketlake.h"
#include "cpu/tables/costs/yonah_to_broadwell.h"
#include "cpu/tables/costs/zen.h"

namespace pmusim::tables {
namespace {

using costs::MeasuredCore;
using costs::MeasuredCost;
using costs::PortRoles;

/// How an enumerator is spelled, as compilers say of a function that has it for a parameter.
template <auto form>
constexpr std::string_view spelling_of() {
  constexpr std::string_view function = __PRETTY_FUNCTION__, before = "InstructionForm::";
  const std::size_t begin = function.find(before) + before.size();
  return function.substr(begin, function.find_first_of(";]", begin) - begin);
}

template <std::size_t... forms>
constexpr std::array<std::string_view, sizeof...(forms)> spellings(std::index_sequence<forms...>) {
  return {spelling_of<static_cast<InstructionForm>(forms)>()...};
}
constexpr std::array form_names = spellings(std::make_index_sequence<instruction_forms>());

struct PortRow {
  std::string_view name;
  PortMask PortRoles::*member;
};
constexpr PortRow port_rows[] = {
    {"ports.alu", &PortRoles::alu},
    {"ports.shift", &PortRoles::shift},
    {"ports.condition", &PortRoles::condition},
    {"ports.multiply", &PortRoles::multiply},
    {"ports.branch", &PortRoles::branch},
    {"ports.taken_branch", &PortRoles::taken_branch},
    {"ports.lea", &PortRoles::lea},
    {"ports.lea_three", &PortRoles::lea_three},
    {"ports.scan", &PortRoles::scan},
    {"ports.load", &PortRoles::load},
    {"ports.vector_load", &PortRoles::vector_load},
    {"ports.store_address", &PortRoles::store_address},
    {"ports.store_data", &PortRoles::store_data},
    {"ports.fp_add", &PortRoles::fp_add},
    {"ports.fp_multiply", &PortRoles::fp_multiply},
    {"ports.fp_divide", &PortRoles::fp_divide},
    {"ports.fp_compare", &PortRoles::fp_compare},
    {"ports.vector", &PortRoles::vector},
    {"ports.logic", &PortRoles::logic},
    {"ports.shuffle", &PortRoles::shuffle},
    {"ports.lanes", &PortRoles::lanes},
    {"ports.vector_multiply", &PortRoles::vector_multiply},
    {"ports.vector_shift", &PortRoles::vector_shift},
    {"ports.to_vector", &PortRoles::to_vector},
    {"ports.from_vector", &PortRoles::from_vector},
    {"ports.convert", &PortRoles::convert},
    {"ports.convert_precision", &PortRoles::convert_precision},
    {"ports.encryption", &PortRoles::encryption},
};

/// Where a cell stands, for what is said of one that cannot be read.
struct Place {
  std::string_view row, column, word;
  [[noreturn]] void refuse(std::string_view expected) const { refuse_cell(row, column, word, expected); }
};

double decimal(std::string_view text, const Place& place) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < 0) place.refuse("numbers");
  return value;
}

u8 small_number(std::string_view text, const Place& place) {
  const double value = decimal(text, place);
  if (value > 255 || value != static_cast<u8>(value)) place.refuse("small numbers");
  return static_cast<u8>(value);
}

static_assert(divider_port == 30);

PortMask ports_of(const Place& place) {
  PortMask mask = 0;
  if (place.word == nothing) return mask;
  for (const std::string_view number : split(place.word, ',')) {
    const u8 port = small_number(number, place);
    if (port >= divider_port) place.refuse("ports of 0 to 29");
    mask |= PortMask{1} << port;
  }
  return mask;
}

MeasuredCost cost_of_form(InstructionForm form, const Place& place) {
  const std::size_t at = place.word.find('@');
  const std::vector<std::string_view> parts = split(place.word.substr(0, at), '/');
  if (parts.size() < 2 || parts.size() > 5) place.refuse("two to five numbers with / between");
  MeasuredCost cost{
      .form = form, .latency = decimal(parts[0], place), .throughput = decimal(parts[1], place)};
  u8* const further[] = {&cost.uops, &cost.port_uops, &cost.early};
  for (std::size_t n = 2; n < parts.size(); ++n) *further[n - 2] = small_number(parts[n], place);
  if (at != std::string_view::npos)
    cost.ports = ports_of({place.row, place.column, place.word.substr(at + 1)});
  return cost;
}

double number_or_none(const Place& place) { return place.word == nothing ? 0 : decimal(place.word, place); }

InstructionForm form_called(std::string_view row) {
  const auto name = std::ranges::find(form_names, row);
  if (name == form_names.end()) refuse_row(row, "instruction form");
  return static_cast<InstructionForm>(name - form_names.begin());
}

/// The cells of a row that is neither ports nor a number of its own.
void add_form(std::vector<MeasuredCore>& cores, const Row& row, const TextTable& table) {
  const InstructionForm form = form_called(row.name);
  for (std::size_t n = 0; n < cores.size(); ++n)
    if (const Place place{row.name, table.columns[n], row.cells[n].word}; place.word != nothing)
      cores[n].forms.push_back(cost_of_form(form, place));
}

/// What a row of ports or a number of its own is to a core; null for forms.
using Reader = void (*)(MeasuredCore&, const Place&);
Reader reader_of(std::string_view row) {
  if (std::ranges::find(port_rows, row, &PortRow::name) != std::end(port_rows))
    return [](MeasuredCore& core, const Place& place) {
      core.ports.*std::ranges::find(port_rows, place.row, &PortRow::name)->member = ports_of(place);
    };
  if (row == "read_modify_write_uops")
    return [](MeasuredCore& core, const Place& place) {
      core.ports.read_modify_write_uops = small_number(place.word, place);
    };
  if (row == "small_quotient_cycles")
    return [](MeasuredCore& core, const Place& place) {
      core.division.small_quotient_cycles = number_or_none(place);
    };
  if (row == "small_quotient_latency")
    return [](MeasuredCore& core, const Place& place) {
      core.division.small_quotient_latency = number_or_none(place);
    };
  return nullptr;
}

void add_row(std::vector<MeasuredCore>& cores, const Row& row, const TextTable& table) {
  const Reader read = reader_of(row.name);
  if (read == nullptr) return add_form(cores, row, table);
  for (std::size_t n = 0; n < cores.size(); ++n)
    read(cores[n], {row.name, table.columns[n], row.cells[n].word});
}

std::map<std::string_view, InstructionCosts> all_costs() {
  using namespace instruction_costs;
  std::map<std::string_view, InstructionCosts> all;
  for (const std::string_view text : {yonah_to_broadwell, skylake_to_rocketlake, goldencove_to_lioncove,
                                      bonnell_to_tremont, gracemont_to_skymont, zen}) {
    const TextTable table = read_table(text);
    const std::vector<MeasuredCore> cores = read_costs(table);
    for (std::size_t n = 0; n < cores.size(); ++n) all.emplace(table.columns[n], make_costs(cores[n]));
  }
  return all;
}

}  // namespace

std::vector<costs::MeasuredCore> read_costs(const TextTable& table) {
  for (const PortRow& ports : port_rows) (void)row_of(table, ports.name);
  std::vector<MeasuredCore> cores(table.columns.size());
  for (const Row& row : table.rows) add_row(cores, row, table);
  return cores;
}

const InstructionCosts& costs_of(std::string_view column) {
  static const std::map<std::string_view, InstructionCosts> all = all_costs();
  return all.at(column);
}

}  // namespace pmusim::tables

namespace pmusim {

const InstructionCosts& default_instruction_costs() { return tables::costs_of("skylake"); }

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cpu/tables/costs.h"
#include "cpu/tables/costs/zen.h"
#include "cpu/tables/features.h"
#include "cpu/tables/features/naples_to_milan.h"
#include "cpu/tables/parameters.h"
#include "cpu/tables/text_table.h"
#include "pmusim/cpu/model.h"

namespace pmusim::test::tables_test {
namespace {

using namespace tables;

/// What is wrong with a table, or nothing.
template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return {};
}

TEST(TextTable, HasACellForEveryColumnOfEveryRow) {
  const TextTable table = read_table(R"(
# sizes
           here   there
first       12 m     -
second       a b   0x10
)");
  EXPECT_EQ(table.columns, (std::vector<std::string_view>{"here", "there"}));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].name, "first");
  EXPECT_EQ(table.rows[0].cells[0].word, "12");
  EXPECT_EQ(table.rows[0].cells[0].mark, 'm');
  EXPECT_EQ(table.rows[0].cells[1].word, nothing);
  EXPECT_EQ(table.rows[0].cells[1].mark, 0);
  EXPECT_EQ(table.rows[1].cells[0].word, "a");
}

TEST(TextTable, RefusesRowsOfAnotherLength) {
  EXPECT_EQ(refusal([] { (void)read_table("a b\nrow 1\n"); }),
            "table of models: row row has 1 cells, expected one for each of 2 columns");
  EXPECT_EQ(refusal([] { (void)read_table("a b\nrow 1 2 3\n"); }),
            "table of models: row row has 3 cells, expected one for each of 2 columns");
  EXPECT_EQ(refusal([] { (void)read_table("a\nrow 1\nrow 2\n"); }), "table of models: two rows row");
  EXPECT_EQ(refusal([] { (void)read_table("# nothing\n"); }),
            "table of models: expected a line that names the columns");
}

/// A column with the least value of every parameter, but for one row.
std::string parameters_but(std::string_view row, std::string_view instead) {
  std::string text = "core\n";
  for (const CoreParameter& parameter : core_parameters()) {
    const bool of_cache = parameter.listed_as != parameter.name;
    if (of_cache && !parameter.name.ends_with("_bytes")) continue;
    const std::string line = std::string(parameter.listed_as) + " " +
                             (of_cache ? "32K/8/4 m" : value_text(parameter, parameter.least)) + "\n";
    text += parameter.listed_as == row ? std::string(instead) : line;
  }
  return text;
}

std::string refusal_of_parameters(std::string_view row, std::string_view instead) {
  const std::string text = parameters_but(row, instead);
  NumbersByModel numbers;
  return refusal([&] { add_numbers(numbers, text); });
}

TEST(ParameterTable, NeedsEveryParameterWithAValueThatItTakes) {
  EXPECT_EQ(refusal_of_parameters("", ""), "");
  EXPECT_EQ(refusal_of_parameters("decoders", ""), "table of models: core ... lacks row decoders");
  EXPECT_EQ(refusal_of_parameters("decoders", "decoders 0\n"),
            "table of models: decoders of core is '0', expected 1 to 16");
  EXPECT_EQ(refusal_of_parameters("decoders", "decoders 4\nencoders 4\n"),
            "table of models: row encoders is no core parameter");
  EXPECT_EQ(refusal_of_parameters("l2", "l2 512K/8\n"),
            "table of models: l2 of core is '512K/8', expected bytes/ways/cycles");
  EXPECT_EQ(refusal_of_parameters("decoders", "decoders 4 x\n"),
            "table of models: decoders of core is 'x', expected a mark of m, c, p, l, r or i");
}

TEST(ParameterTable, TellsValuesAndSources) {
  const std::string text = parameters_but("tsc_hz", "tsc_hz 2207M p\n");
  NumbersByModel numbers;
  add_numbers(numbers, text);
  const auto number = [&](std::string_view name) {
    return *std::ranges::find(numbers.at("core"), name, &CoreNumber::name);
  };
  EXPECT_EQ(number("tsc_hz").value, 2'207'000'000u);
  EXPECT_EQ(number("tsc_hz").source, FactSource::published);
  EXPECT_EQ(number("decoders").source, FactSource::none);
  EXPECT_EQ(number("l1d").geometry.bytes, 32u * 1024);
  EXPECT_EQ(number("l1d").geometry.latency_cycles, 4u);
}

/// Naples with one text in its table instead of another: the model, or why there is none.
CpuModel naples_with(std::string_view old, std::string_view instead) {
  std::string text(features::naples_to_milan);
  text.replace(text.find(old), old.size(), instead);
  CpuModel model;
  model.name = "naples";
  model.vendor = Vendor::amd;
  set_features(model, read_table(text));
  return model;
}
std::string refusal_of_features(std::string_view old, std::string_view instead) {
  return refusal([&] { (void)naples_with(old, instead); });
}

TEST(FeatureTable, NeedsEveryFeatureWithAValueThatItTakes) {
  EXPECT_EQ(refusal_of_features("freeze", "freeze"), "");
  EXPECT_EQ(refusal_of_features("freeze", "# "), "table of models: naples ... lacks row freeze");
  EXPECT_EQ(refusal_of_features("\ngp_counters", "\nsp_counters 1 1 1 1 1 1 1 1\ngp_counters"),
            "table of models: row sp_counters is no feature");
  EXPECT_EQ(refusal_of_features("streamlined", "sudden"),
            "table of models: freeze of naples is 'sudden', expected legacy or streamlined");
  EXPECT_EQ(refusal_of_features(" 0x3F ", " 0x3G "),
            "table of models: gp_counters of naples is '0x3G', expected a number");
  EXPECT_EQ(refusal_of_features(" 0x3F ", " 0x100000000 "),
            "table of models: gp_counters of naples is '0x100000000', expected a number of its width");
  EXPECT_EQ(refusal_of_features(" 0x3F ", " - "),
            "table of models: gp_counters of naples is '-', expected a number");
  EXPECT_EQ(refusal_of_features("naples", "nablus"), "table of models: no column naples");
}

TEST(FeatureTable, SetsTheMembersThatItsRowsName) {
  const CpuModel naples = naples_with(" 0x3F ", " 0x1F ");
  EXPECT_EQ(naples.gp_counters, 0x1Fu);
  EXPECT_EQ(naples.rdpmc, RdpmcEncoding::plain);
  EXPECT_FALSE(naples.has_x2apic);
  EXPECT_EQ(naples.xss, 0u) << "-: as a CpuModel to which nothing was added";
}

/// Naples with one text in its table instead of another.
costs::MeasuredCore zen_with(std::string_view old, std::string_view instead) {
  std::string text(instruction_costs::zen);
  text.replace(text.find(old), old.size(), instead);
  return read_costs(read_table(text)).front();
}
std::string refusal_of_costs(std::string_view old, std::string_view instead) {
  return refusal([&] { (void)zen_with(old, instead); });
}

TEST(CostTable, NeedsPortsAndFormsThatThereAre) {
  EXPECT_EQ(refusal_of_costs("ports.alu", "ports.alu"), "");
  EXPECT_EQ(refusal_of_costs("ports.alu", "# "), "table of models: naples ... lacks row ports.alu");
  EXPECT_EQ(refusal_of_costs("\nadc ", "\nadx "), "table of models: row adx is no instruction form");
  EXPECT_EQ(refusal_of_costs(" 16,17 ", " 16,31 "),
            "table of models: ports.vector_load of naples is '16,31', expected ports of 0 to 29");
  EXPECT_EQ(refusal_of_costs(" 121/121.5/68 ", " 121 "),
            "table of models: cpuid of naples is '121', expected two to five numbers with / between");
  EXPECT_EQ(refusal_of_costs(" 121/121.5/68 ", " 121/x "),
            "table of models: cpuid of naples is '121/x', expected numbers");
  EXPECT_EQ(refusal_of_costs(" 121/121.5/68 ", " 121/121.5@31 "),
            "table of models: cpuid of naples is '31', expected ports of 0 to 29");
  EXPECT_EQ(refusal_of_costs(" 121/121.5/68 ", " 121/121.5/300 "),
            "table of models: cpuid of naples is '121/121.5/300', expected small numbers");
}

TEST(CostTable, TellsWhatWasMeasured) {
  const costs::MeasuredCore zen = zen_with(" 121/121.5/68 ", " 121/121.5/68/2/1 ");
  EXPECT_EQ(zen.ports.load, 0b11'0000u);
  const auto cpuid = std::ranges::find(zen.forms, InstructionForm::cpuid, &costs::MeasuredCost::form);
  ASSERT_NE(cpuid, zen.forms.end());
  EXPECT_EQ(cpuid->latency, 121);
  EXPECT_EQ(cpuid->throughput, 121.5);
  EXPECT_EQ(cpuid->uops, 68);
  EXPECT_EQ(cpuid->port_uops, 2);
  EXPECT_EQ(cpuid->early, 1);
  EXPECT_EQ(cpuid->ports, 0u) << "those of its kind of work";
  EXPECT_EQ(std::ranges::count(zen.forms, InstructionForm::add_512, &costs::MeasuredCost::form), 0) << "-";
}

TEST(CostTable, GivesAFormPortsOfItsOwn) {
  const costs::MeasuredCore zen = zen_with(" 121/121.5/68 ", " 1/0.5@8,11 ");
  const auto cpuid = std::ranges::find(zen.forms, InstructionForm::cpuid, &costs::MeasuredCost::form);
  ASSERT_NE(cpuid, zen.forms.end());
  EXPECT_EQ(cpuid->throughput, 0.5);
  EXPECT_EQ(cpuid->ports, bit(8) | bit(11));
}

}  // namespace
}  // namespace pmusim::test::tables_test

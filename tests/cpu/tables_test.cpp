// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

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
            "table of models: there is no core parameter encoders");
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

}  // namespace
}  // namespace pmusim::test::tables_test

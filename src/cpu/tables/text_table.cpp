// SPDX-License-Identifier: MIT
#include "cpu/tables/text_table.h"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "base/split.h"

namespace pmusim::tables {
namespace {

[[noreturn]] void refuse(std::initializer_list<std::string_view> parts) {
  std::string sentence = "table of models: ";
  for (const std::string_view part : parts) sentence += part;
  throw std::logic_error(sentence);
}

bool is_mark(std::string_view word) { return word.size() == 1 && word[0] >= 'a' && word[0] <= 'z'; }

Row read_row(std::string_view line, std::size_t columns) {
  const std::vector<std::string_view> words = split(line, ' ');
  Row row{.name = words.front(), .cells = {}};
  row.cells.reserve(columns);
  for (std::size_t n = 1; n < words.size(); ++n) {
    if (is_mark(words[n]) && !row.cells.empty())
      row.cells.back().mark = words[n][0];
    else
      row.cells.push_back({words[n]});
  }
  if (row.cells.size() != columns)
    refuse({"row ", row.name, " has ", std::to_string(row.cells.size()), " cells, expected one for each of ",
            std::to_string(columns), " columns"});
  return row;
}

void expect_names_once(const std::vector<Row>& rows) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) refuse({"two rows ", *twice});
}

}  // namespace

TextTable read_table(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  std::erase_if(lines, [](std::string_view line) { return line.front() == '#'; });
  if (lines.empty()) refuse({"expected a line that names the columns"});
  TextTable table{.columns = split(lines.front(), ' '), .rows = {}};
  table.rows.reserve(lines.size());
  for (std::size_t n = 1; n < lines.size(); ++n)
    table.rows.push_back(read_row(lines[n], table.columns.size()));
  expect_names_once(table.rows);
  return table;
}

std::size_t column_of(const TextTable& table, std::string_view name) {
  const auto column = std::ranges::find(table.columns, name);
  if (column == table.columns.end()) refuse({"no column ", name});
  return static_cast<std::size_t>(column - table.columns.begin());
}

const Row& row_of(const TextTable& table, std::string_view name) {
  const auto row = std::ranges::find(table.rows, name, &Row::name);
  if (row == table.rows.end()) refuse({table.columns.front(), " ... lacks row ", name});
  return *row;
}

void refuse_row(std::string_view row, std::string_view expected) {
  refuse({"row ", row, " is no ", expected});
}

void refuse_cell(std::string_view row, std::string_view column, std::string_view word,
                 std::string_view expected) {
  refuse({row, " of ", column, " is '", word, "', expected ", expected});
}

}  // namespace pmusim::tables

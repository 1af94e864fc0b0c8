// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CPU_TABLES_TEXT_TABLE_H
#define PMUSIM_SRC_CPU_TABLES_TEXT_TABLE_H

#include <cstddef>
#include <string_view>
#include <vector>

/// Tables of the models, as text that people read: the first line names the columns, each line behind it has
/// a name and a cell for every column. A cell is a word, and perhaps a mark of one letter; a word `-` says
/// that there is nothing. Lines that begin with # are comments.
namespace pmusim::tables {

inline constexpr std::string_view nothing = "-";

struct Cell {
  std::string_view word;
  char mark = 0;  ///< 0: none
};

struct Row {
  std::string_view name;
  std::vector<Cell> cells;  ///< as many as the table has columns
};

struct TextTable {
  std::vector<std::string_view> columns;
  std::vector<Row> rows;
};

/// Throws std::logic_error where a row has not a cell for each column, or a name that a row before it has.
TextTable read_table(std::string_view text);

/// Throw std::logic_error where there is none of that name.
std::size_t column_of(const TextTable& table, std::string_view name);
const Row& row_of(const TextTable& table, std::string_view name);

/// What readers throw std::logic_error with: a row that is none of what the table has, a cell that they
/// cannot read.
[[noreturn]] void refuse_row(std::string_view row, std::string_view expected);
[[noreturn]] void refuse_cell(std::string_view row, std::string_view column, std::string_view word,
                              std::string_view expected);

}  // namespace pmusim::tables

#endif

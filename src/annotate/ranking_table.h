// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_RANKING_TABLE_H
#define PMUSIM_SRC_ANNOTATE_RANKING_TABLE_H

#include <string>
#include <string_view>
#include <vector>

#include "annotate/colours.h"
#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// A field of a row, or the head of its column.
struct RankingCell {
  std::string text;
  std::string_view gap = " ";  ///< before it, unless it is the first
  int width = 0;               ///< least; negative: the text stands on the left
  Colour colour = Colour::normal;
};

struct RankingRow {
  std::vector<RankingCell> cells;
  u32 symbol = nothing;  ///< in Report::symbols, of symbols and lines
};

/// A table of a report, hottest first, without the rows that the options leave out: what is printed, and what
/// the terminal's browser shows.
struct RankingTable {
  std::vector<RankingCell> head;
  std::vector<RankingRow> rows;
};

RankingTable ranking_table(const Report& report, Ranking ranking, const RankingOptions& options);

/// Cells in their columns.
std::string columns_of(const std::vector<RankingCell>& cells, Colours colours);

/// What was sampled, a line for each event.
std::string ranking_head(const Report& report);

}  // namespace pmusim::annotate

#endif

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "annotate/ranking_table.h"
#include "annotate/stack_text.h"
#include "base/printable.h"

namespace pmusim::annotate {

namespace {

class RankingPrinter {
 public:
  RankingPrinter(const Report& report, const RankingOptions& options)
      : report_(report), options_(options), stacks_(report, options.stacks, options.stack_shares) {}

  std::string print() {
    if (options_.header) print_recording();
    text_ += ranking_head(report_);
    for (const Ranking ranking : options_.rankings) print_ranking(ranking);
    return std::move(text_);
  }

 private:
  void print_recording() {
    text_ += fmt::format("# input: {}\n", printable(report_.input));
    if (!report_.command_line.empty())
      text_ += fmt::format("# cmdline: {}\n", printable(report_.command_line));
    if (!report_.cpu.empty()) text_ += fmt::format("# cpudesc: {}\n", printable(report_.cpu));
  }

  void print_ranking(Ranking ranking) {
    const RankingTable table = ranking_table(report_, ranking, options_);
    text_ += '\n' + row(table.head, '#');
    for (const RankingRow& each : table.rows) {
      text_ += row(each.cells, ' ');
      if (ranking == Ranking::symbols) text_ += stacks_.below(each.symbol);
    }
  }

  std::string row(const std::vector<RankingCell>& cells, char first) const {
    if (!options_.separator) return first + columns_of(cells, options_.colours) + '\n';
    std::string text = first == '#' ? "# " : "";
    for (const RankingCell& cell : cells) {
      if (&cell != &cells.front()) text += *options_.separator;
      text += without_separator(cell.text);
    }
    return text + '\n';
  }

  std::string without_separator(std::string text) const {
    const std::string& separator = *options_.separator;
    for (std::size_t at = text.find(separator); at != std::string::npos; at = text.find(separator, at + 1))
      text.replace(at, separator.size(), ".");
    return text;
  }

  const Report& report_;
  const RankingOptions& options_;
  StackText stacks_;
  std::string text_;
};

}  // namespace

std::string ranking_text(const Report& report, const std::vector<Ranking>& rankings, Colours colours) {
  RankingOptions options;
  options.rankings = rankings;
  options.colours = colours;
  return ranking_text(report, options);
}

std::string ranking_text(const Report& report, const RankingOptions& options) {
  return RankingPrinter(report, options).print();
}

}  // namespace pmusim::annotate

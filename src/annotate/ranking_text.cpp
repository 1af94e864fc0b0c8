// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "annotate/branch_counts.h"
#include "base/printable.h"
#include "colours.h"

namespace pmusim::annotate {

namespace {

class RankingPrinter {
 public:
  RankingPrinter(const Report& report, Colours colours) : report_(report), colours_(colours) {}

  std::string print(const std::vector<Ranking>& rankings) {
    print_head();
    for (const Ranking ranking : rankings) print_ranking(ranking);
    return std::move(text_);
  }

 private:
  void print_head() {
    for (const Event& event : report_.events)
      text_ += fmt::format("# {}: {} samples, event count {}\n", printable(event.name), event.total.samples,
                           event.total.period);
    if (report_.totals.branch_stacks != 0)
      text_ += fmt::format("# {} branch stacks with {} branches\n", report_.totals.branch_stacks,
                           report_.totals.branch_entries);
  }

  void print_ranking(Ranking ranking) {
    switch (ranking) {
      case Ranking::symbols:
        return print_symbols();
      case Ranking::modules:
        return print_modules();
      case Ranking::lines:
        return print_lines();
      case Ranking::branches:
        return print_branches();
    }
  }

  static bool has_samples(const Weights& weights) {
    return std::ranges::any_of(weights, [](const Weight& w) { return w.samples != 0; });
  }

  void print_weight_names() {
    text_ += "\n#";
    for (std::size_t e = 0; e < report_.events.size(); ++e)
      text_ += fmt::format("{:>9} {:>9}", "Overhead", "Samples");
  }

  void print_weights(const Weights& weights) {
    text_ += ' ';
    for (std::size_t e = 0; e < weights.size(); ++e) {
      const double whole = static_cast<double>(report_.events[e].total.period);
      const double percent = whole == 0 ? 0 : 100 * static_cast<double>(weights[e].period) / whole;
      text_ += painted(fmt::format("{:8.2f}%", percent), percent_colour(percent), colours_) +
               fmt::format(" {:9}", weights[e].samples);
    }
  }

  static std::string base_name(const std::string& path) {
    return printable(path.substr(path.rfind('/') + 1));
  }

  void print_symbols() {
    const bool stacks = report_.stack_source != StackSource::none;
    print_weight_names();
    text_ += fmt::format("{}  {:<20} Symbol\n", stacks ? "  Children" : "", "Module");
    for (const Symbol& symbol : report_.symbols) {
      if (!has_samples(symbol.weights)) continue;
      print_weights(symbol.weights);
      if (stacks) print_children(symbol);
      text_ += fmt::format("  {:<20} {}\n", base_name(report_.modules[symbol.module].path),
                           printable(symbol.name));
    }
  }

  void print_children(const Symbol& symbol) {
    const double whole = static_cast<double>(report_.events[0].total.period);
    const double part = static_cast<double>(symbol.with_callees[0].period);
    text_ += fmt::format(" {:8.2f}%", whole == 0 ? 0 : 100 * part / whole);
  }

  void print_modules() {
    print_weight_names();
    text_ += "  Module\n";
    for (const Module& module : report_.modules) {
      if (!has_samples(module.weights)) continue;
      print_weights(module.weights);
      text_ += fmt::format("  {}\n", printable(module.path));
    }
  }

  std::string line_name(const SourcePosition& where) const {
    return where.line == 0 ? "" : fmt::format("{}:{}", base_name(report_.files[where.file].path), where.line);
  }

  void print_lines() {
    print_weight_names();
    text_ += fmt::format("  {:<30} Symbol\n", "Source line");
    for (const RankedLine& line : report_.lines) {
      print_weights(line.weights);
      text_ +=
          fmt::format("  {:<30} {}\n", line_name(line.where), printable(report_.symbols[line.symbol].name));
    }
  }

  std::string place_name(const Place& place) const {
    const Symbol& symbol = report_.symbols[place.symbol];
    const std::string name = printable(symbol.name);
    const std::string offset = symbol.start == symbol.end
                                   ? fmt::format("{}:{:#x}", name, place.address)
                                   : fmt::format("{}+{:#x}", name, place.address - symbol.start);
    const std::string line = line_name(place.where);
    return line.empty() ? offset : fmt::format("{} ({})", offset, line);
  }

  static std::string prediction(const Branch& branch) {
    const auto percent = predicted_percent(branch.predicted, branch.mispredicted);
    return percent ? fmt::format("{:.2f}%", *percent) : "-";
  }

  void print_branches() {
    text_ += fmt::format("\n#{:>9} {:>9} {:>10} {:>7}  Branch\n", "Share", "Taken", "Predicted", "Cycles");
    for (const Branch& branch : report_.branches) {
      const double share = 100 * static_cast<double>(branch.taken) /
                           static_cast<double>(std::max<u64>(report_.totals.branch_entries, 1));
      text_ += painted(fmt::format(" {:8.2f}%", share), percent_colour(share), colours_) +
               fmt::format(" {:9} {:>10} {:>7}  {} -> {}\n", branch.taken, prediction(branch),
                           branch.timed == 0 ? "-" : fmt::format("{}", branch.cycles / branch.timed),
                           place_name(branch.from), place_name(branch.to));
    }
  }

  const Report& report_;
  Colours colours_;
  std::string text_;
};

}  // namespace

std::string ranking_text(const Report& report, const std::vector<Ranking>& rankings, Colours colours) {
  return RankingPrinter(report, colours).print(rankings);
}

}  // namespace pmusim::annotate

// SPDX-License-Identifier: MIT
#include "annotate/ranking_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>

#include "annotate/branch_counts.h"
#include "annotate/percent.h"
#include "annotate/weights.h"
#include "base/base_name.h"
#include "base/printable.h"

namespace pmusim::annotate {

namespace {

/// A row that may be left out, and the place of its symbol or module, or whose it is.
struct RankedItem {
  const Weights* weights = nullptr;
  const Weights* with_callees = nullptr;  // of symbols, where there are call stacks
  u32 symbol = nothing, module = nothing;
  SourcePosition where;
  std::string owner = {};
};

bool is_of_owners(Ranking ranking) { return ranking > Ranking::branches; }

/// perf's heads of -s comm, pid, tid, cpu and socket.
std::string_view owner_head(Ranking ranking) {
  switch (ranking) {
    case Ranking::processes:
      return "Pid:Command";
    case Ranking::threads:
      return "Tid:Command";
    case Ranking::cpus:
      return "CPU";
    case Ranking::packages:
      return "Socket";
    default:
      return "Command";
  }
}

class TableBuilder {
 public:
  TableBuilder(const Report& report, const RankingOptions& options) : report_(report), options_(options) {}

  RankingTable build(Ranking ranking) {
    owner_head_ = owner_head(ranking);
    if (is_of_owners(ranking)) {
      const Owners owners = owners_of(ranking);
      return table(owner_items(owners), {RankingField::owner});
    }
    switch (ranking) {
      case Ranking::symbols:
        return table(symbols(), {RankingField::module, RankingField::symbol});
      case Ranking::modules:
        return table(modules(), {RankingField::module});
      case Ranking::lines:
        return table(lines(), {RankingField::line, RankingField::symbol});
      default:
        return branches();
    }
  }

 private:
  bool has_stacks() const { return report_.stack_source != StackSource::none; }

  double percent(const Weights& weights, std::size_t event) const {
    return percent_of(weights[event].period, report_.events[event].total.period);
  }

  // --- what is in a table

  std::vector<RankedItem> symbols() const {
    std::vector<RankedItem> items;
    for (u32 number = 0; number < report_.symbols.size(); ++number) {
      const Symbol& symbol = report_.symbols[number];
      items.push_back({.weights = &symbol.weights,
                       .with_callees = has_stacks() ? &symbol.with_callees : nullptr,
                       .symbol = number,
                       .module = symbol.module,
                       .where = {}});
    }
    if (options_.children == RankingChildren::ranked)
      std::ranges::stable_sort(items, std::greater(), [](const RankedItem& item) {
        return item.with_callees != nullptr && !item.with_callees->empty() ? item.with_callees->front().period
                                                                           : u64{0};
      });
    return items;
  }

  std::vector<RankedItem> modules() const {
    std::vector<RankedItem> items;
    for (u32 number = 0; number < report_.modules.size(); ++number)
      items.push_back({.weights = &report_.modules[number].weights, .module = number, .where = {}});
    return items;
  }

  std::vector<RankedItem> lines() const {
    std::vector<RankedItem> items;
    for (const RankedLine& line : report_.lines)
      items.push_back({.weights = &line.weights,
                       .symbol = line.symbol,
                       .module = report_.symbols[line.symbol].module,
                       .where = line.where});
    return items;
  }

  using Owners = std::vector<std::pair<std::string, Weights>>;

  /// A process is called as its hottest thread.
  Owners owners_of(Ranking ranking) const {
    std::map<std::string, Weights> sums;
    std::map<u32, std::string> name_of_process;
    for (const SampledTask& task : report_.tasks) {
      const std::string& name = name_of_process.try_emplace(task.pid, task.command).first->second;
      if (ranking == Ranking::commands) add(sums[task.command], task.weights);
      if (ranking == Ranking::processes) add(sums[fmt::format("{}:{}", task.pid, name)], task.weights);
      if (ranking == Ranking::threads) add(sums[fmt::format("{}:{}", task.tid, task.command)], task.weights);
    }
    for (const SampledCpu& cpu : report_.cpus) {
      if (ranking == Ranking::cpus) add(sums[fmt::format("{}", cpu.cpu)], cpu.weights);
      if (ranking == Ranking::packages)
        add(sums[cpu.package == nothing ? "[unknown]" : fmt::format("{}", cpu.package)], cpu.weights);
    }
    Owners owners(sums.begin(), sums.end());
    std::ranges::stable_sort(owners, std::greater(), [](const auto& owner) { return heat_of(owner.second); });
    return owners;
  }

  static std::vector<RankedItem> owner_items(const Owners& owners) {
    std::vector<RankedItem> items;
    for (const auto& [name, weights] : owners)
      items.push_back({.weights = &weights, .where = {}, .owner = name});
    return items;
  }

  /// What a row is ranked by.
  const Weights& ranked_weights(const RankedItem& item) const {
    const bool by_children = options_.children == RankingChildren::ranked && item.with_callees != nullptr;
    return by_children ? *item.with_callees : *item.weights;
  }

  bool is_shown(const RankedItem& item) const {
    const Weights& weights = ranked_weights(item);
    if (!has_samples(weights)) return false;
    bool reaches_limit = options_.percent_limit <= 0;
    for (std::size_t e = 0; e < weights.size(); ++e)
      reaches_limit = reaches_limit || percent(weights, e) >= options_.percent_limit;
    return reaches_limit && is_of_chosen_module(item) && has_chosen_symbol(item);
  }

  bool is_of_chosen_module(const RankedItem& item) const {
    if (options_.modules.empty() || item.module == nothing) return options_.modules.empty();
    const std::string& path = report_.modules[item.module].path;
    return std::ranges::any_of(
        options_.modules, [&](const std::string& name) { return path == name || base_name(path) == name; });
  }

  bool has_chosen_symbol(const RankedItem& item) const {
    if (options_.symbol_filter.empty()) return true;
    return item.symbol != nothing &&
           report_.symbols[item.symbol].name.find(options_.symbol_filter) != std::string::npos;
  }

  // --- columns

  std::vector<RankingField> columns(bool of_symbols, std::vector<RankingField> names) const {
    if (!options_.fields.empty()) return fields_with(names);
    std::vector<RankingField> columns{RankingField::overhead, RankingField::samples};
    const bool children = of_symbols && has_stacks() && options_.children != RankingChildren::hidden;
    if (children) columns.push_back(RankingField::children);
    columns.insert(columns.end(), names.begin(), names.end());
    return columns;
  }

  /// Those asked for. They do not say whose a row is, which is then the last.
  std::vector<RankingField> fields_with(const std::vector<RankingField>& names) const {
    std::vector<RankingField> fields = options_.fields;
    if (names.front() == RankingField::owner) fields.push_back(RankingField::owner);
    return fields;
  }

  /// Overhead and samples of an event stand together.
  template <class AddCell>
  void for_each_cell(const std::vector<RankingField>& columns, AddCell add) const {
    const bool usual = options_.fields.empty();
    if (usual) {
      for (std::size_t e = 0; e < report_.events.size(); ++e) {
        add(RankingField::overhead, e);
        add(RankingField::samples, e);
      }
    }
    for (const RankingField field : columns) {
      const bool per_event =
          field == RankingField::overhead || field == RankingField::samples || field == RankingField::period;
      if (usual && per_event) continue;
      for (std::size_t e = 0; e < (per_event ? report_.events.size() : 1); ++e) add(field, e);
    }
  }

  RankingTable table(const std::vector<RankedItem>& items, const std::vector<RankingField>& names) const {
    const bool of_symbols = names.front() == RankingField::module && names.size() == 2;
    const std::vector<RankingField> fields = columns(of_symbols, names);
    RankingTable table;
    for_each_cell(fields, [&](RankingField field, std::size_t event) {
      table.head.push_back(head_of(field, event, names));
    });
    for (const RankedItem& item : items) {
      if (!is_shown(item)) continue;
      RankingRow& row = table.rows.emplace_back();
      row.symbol = item.symbol;
      for_each_cell(fields, [&](RankingField field, std::size_t event) {
        row.cells.push_back(cell_of(field, event, item, names));
      });
    }
    return table;
  }

  RankingCell head_of(RankingField field, std::size_t event, const std::vector<RankingField>& names) const {
    switch (field) {
      case RankingField::overhead:
        return {.text = "Overhead", .gap = event == 0 ? " " : "", .width = 9};
      case RankingField::samples:
        return {.text = "Samples", .width = 9};
      case RankingField::children:
        return {.text = "Children", .width = 9};
      case RankingField::period:
        return {.text = "Period", .width = 12};
      case RankingField::module:
        return {.text = "Module", .gap = "  ", .width = names.back() == RankingField::module ? 0 : -20};
      case RankingField::line:
        return {.text = "Source line", .gap = "  ", .width = -30};
      case RankingField::owner:
        return {.text = std::string(owner_head_), .gap = "  "};
      case RankingField::symbol:
        break;
    }
    return {.text = "Symbol"};
  }

  RankingCell cell_of(RankingField field, std::size_t event, const RankedItem& item,
                      const std::vector<RankingField>& names) const {
    RankingCell cell = head_of(field, event, names);
    cell.text.clear();
    switch (field) {
      case RankingField::overhead:
        cell.colour = percent_colour(percent(*item.weights, event));
        cell.text = fmt::format("{:.2f}%", percent(*item.weights, event));
        break;
      case RankingField::samples:
        cell.text = fmt::format("{}", (*item.weights)[event].samples);
        break;
      case RankingField::children:
        cell.text = fmt::format(
            "{:.2f}%", percent(item.with_callees != nullptr ? *item.with_callees : *item.weights, 0));
        break;
      case RankingField::period:
        cell.text = fmt::format("{}", (*item.weights)[event].period);
        break;
      case RankingField::module:
        if (item.module == nothing) break;
        cell.text = names.back() == RankingField::module
                        ? printable(report_.modules[item.module].path)
                        : printable(base_name(report_.modules[item.module].path));
        break;
      case RankingField::line:
        cell.text = line_name(item.where);
        break;
      case RankingField::owner:
        cell.text = printable(item.owner);
        break;
      case RankingField::symbol:
        cell.text = item.symbol == nothing ? "" : printable(report_.symbols[item.symbol].name);
        break;
    }
    return cell;
  }

  std::string line_name(const SourcePosition& where) const {
    return where.line == 0
               ? ""
               : fmt::format("{}:{}", printable(base_name(report_.files[where.file].path)), where.line);
  }

  // --- branches

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

  bool is_shown(const Branch& branch, double share) const {
    const auto shown = [&](const Place& place) {
      const RankedItem end{
          .symbol = place.symbol, .module = report_.symbols[place.symbol].module, .where = {}};
      return is_of_chosen_module(end) && has_chosen_symbol(end);
    };
    return share >= options_.percent_limit && (shown(branch.from) || shown(branch.to));
  }

  RankingTable branches() const {
    RankingTable table;
    table.head = {{.text = "Share", .width = 9},
                  {.text = "Taken", .width = 9},
                  {.text = "Predicted", .width = 10},
                  {.text = "Cycles", .width = 7},
                  {.text = "Branch", .gap = "  "}};
    for (const Branch& branch : report_.branches) {
      const double share = 100 * static_cast<double>(branch.taken) /
                           static_cast<double>(std::max<u64>(report_.totals.branch_entries, 1));
      if (!is_shown(branch, share)) continue;
      table.rows.push_back(
          {{{.text = fmt::format("{:.2f}%", share), .width = 9, .colour = percent_colour(share)},
            {.text = fmt::format("{}", branch.taken), .width = 9},
            {.text = prediction(branch), .width = 10},
            {.text = branch.timed == 0 ? "-" : fmt::format("{}", branch.cycles / branch.timed), .width = 7},
            {.text = fmt::format("{} -> {}", place_name(branch.from), place_name(branch.to)), .gap = "  "}},
           branch.from.symbol});
    }
    return table;
  }

  const Report& report_;
  const RankingOptions& options_;
  std::string_view owner_head_;
};

}  // namespace

RankingTable ranking_table(const Report& report, Ranking ranking, const RankingOptions& options) {
  return TableBuilder(report, options).build(ranking);
}

std::string columns_of(const std::vector<RankingCell>& cells, Colours colours) {
  std::string text;
  for (const RankingCell& cell : cells) {
    if (&cell != &cells.front()) text += cell.gap;
    const auto width = static_cast<std::size_t>(std::abs(cell.width));
    text += cell.width < 0 ? fmt::format("{:<{}}", cell.text, width)
                           : painted(fmt::format("{:>{}}", cell.text, width), cell.colour, colours);
  }
  return text;
}

std::string ranking_head(const Report& report) {
  std::string text;
  for (const Event& event : report.events)
    text += fmt::format("# {}: {} samples, event count {}\n", printable(event.name), event.total.samples,
                        event.total.period);
  if (report.totals.branch_stacks != 0)
    text += fmt::format("# {} branch stacks with {} branches\n", report.totals.branch_stacks,
                        report.totals.branch_entries);
  return text;
}

}  // namespace pmusim::annotate

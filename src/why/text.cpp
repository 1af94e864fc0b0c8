// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/base_name.h"
#include "base/printable.h"
#include "why/report.h"
#include "why/table_columns.h"

namespace pmusim::why {

namespace {

constexpr std::size_t most_rows = 20;

/// Four places: "9999", "12.3k", "4.56M".
std::string compact(u64 number) {
  if (number < 10'000) return fmt::format("{}", number);
  double scaled = static_cast<double>(number);
  const char* unit = "kMGTPE";
  for (scaled /= 1000; scaled >= 999.5; scaled /= 1000) ++unit;
  return fmt::format("{:.{}f}{}", scaled, scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0, *unit);
}

std::string percent_of(u64 part, u64 whole) {
  return fmt::format("{:.0f}%", std::min(100.0, 100 * ratio(part, whole)));
}

class Printer {
 public:
  Printer(const Report& report, Detail detail) : report_(report), detail_(detail) {
    for (const TableColumn& column : table_columns)
      if (column.value(report.total) != 0) shown_.push_back(&column);
  }

  std::string print(std::optional<u32> function) {
    print_head();
    print_findings(function);
    if (report_.topdown) print_topdown(*report_.topdown);
    print_loops(function);
    if (function) {
      print_function(report_.functions[*function]);
    } else {
      print_functions();
      print_lines();
    }
    return std::move(text_);
  }

 private:
  void print_head() {
    const u64 cycles = report_.total[Column::cycles], instructions = report_.total[Column::instructions];
    text_ += fmt::format("{} on {}: {} cycles, {} instructions, {:.2f} instructions per cycle\n",
                         printable(report_.title), report_.setting.text(), cycles, instructions,
                         ratio(instructions, cycles));
  }

  std::string function_name(const Line& line) const {
    return line.number == 0 ? "" : " in " + printable(report_.functions[line.function].name);
  }

  void print_findings(std::optional<u32> function) {
    std::size_t number = 0;
    for (const Finding& finding : report_.findings) {
      const Line& line = report_.lines[finding.line];
      if (function ? line.function != *function : number == most_rows) continue;
      text_ += fmt::format("{}{:3}. {} {:>4} of all cycles{}: {}\n", number == 0 ? "\nWhy\n" : "", number + 1,
                           bar(finding.cycles), percent_of(finding.cycles, report_.total[Column::cycles]),
                           function_name(line), finding.sentence);
      ++number;
    }
    if (number == 0) text_ += "\nNothing holds up 1 % of the cycles on one line.\n";
  }

  void print_topdown(const Topdown& topdown) {
    if (!topdown.tree) {
      text_ += fmt::format("\nTop-down: {}\n", topdown.problem);
      return;
    }
    text_ += "\nTop-down, percent of the slots of each (* above the threshold)\n";
    for (std::size_t n = 0; n < topdown.parts.size(); ++n)
      text_ += fmt::format(" {:>8}", n == 0 ? "All" : fmt::format("#{}", n));
    text_ += "  Node\n";
    const auto nodes = topdown.tree->nodes();
    for (std::size_t n = 0; n < nodes.size(); ++n) print_node(topdown, n);
    for (std::size_t n = 1; n < topdown.parts.size(); ++n) print_part(topdown, n);
  }

  void print_node(const Topdown& topdown, std::size_t number) {
    const TopdownTree::Node& node = topdown.tree->nodes()[number];
    const std::string indent(2 * node.metric->level, ' ');
    for (const TopdownPart& part : topdown.parts) {
      const TopdownTree::Value& value = part.values[number];
      text_ += value.percent
                   ? fmt::format(" {:>7.2f}{}", *value.percent, value.stands_out.value_or(false) ? '*' : ' ')
                   : fmt::format(" {:>7} ", "-");
    }
    text_ += fmt::format("{}{}{}\n", indent, node.metric->name,
                         node.not_counted.empty() ? "" : fmt::format(": not counted, {}", node.not_counted));
    if (detail_ == Detail::verbose)
      for (const u32 event : node.events) print_event(topdown, event, indent);
  }

  void print_event(const Topdown& topdown, u32 event, const std::string& indent) {
    for (const TopdownPart& part : topdown.parts) {
      const EventTotal& total = part.totals[event];
      text_ += fmt::format(" {:>7} ", total.supported ? compact(total.value()) : "-");
    }
    text_ += fmt::format("{}    {}\n", indent, topdown.tree->events()[event].parsed.name);
  }

  void print_part(const Topdown& topdown, std::size_t number) {
    const TopdownPart& part = topdown.parts[number];
    const Function& function = report_.functions[*part.function];
    text_ += fmt::format(" {:>8}  {} ({}), {} of all slots\n", fmt::format("#{}", number),
                         printable(function.name), printable(base_name(function.module)),
                         percent_of(part.slots, topdown.parts.front().slots));
  }

  /// Those with a hundredth of the cycles; of a function all.
  void print_loops(std::optional<u32> function) {
    std::size_t number = 0;
    for (const Loop& loop : report_.loops) {
      const u64 cycles = loop.counts[Column::cycles];
      if (function && loop.function != *function) continue;
      if (number == most_rows || (!function && 100 * cycles < report_.total[Column::cycles])) break;
      if (number++ == 0)
        text_ += fmt::format("\nLoops\n{:>11} {:>5} {:>6} {:>7} {:>7} {:>7} {:>7} {:>9} {:>5}  Loop\n", "",
                             "Share", "Cycles", "Entries", "Median", "p90", "Max", "Cyc/round", "IPC");
      const Distribution& trips = loop.rounds.trips;
      const auto known = [&](u64 number_of) { return trips.count() == 0 ? "-" : compact(number_of); };
      text_ += fmt::format(" {} {:>5} {:>6} {:>7} {:>7} {:>7} {:>7} {:>9} {:>5.2f}  {} in {}{}\n",
                           bar(cycles), percent_of(cycles, report_.total[Column::cycles]), compact(cycles),
                           known(trips.count()), known(trips.percentile(50)), known(trips.percentile(90)),
                           known(trips.max()), cycles_of_round(loop),
                           ratio(loop.counts[Column::instructions], cycles), place_name(report_, loop),
                           printable(report_.functions[loop.function].name),
                           loop.cause ? fmt::format(": {}", name_of(*loop.cause)) : "");
    }
  }

  static std::string cycles_of_round(const Loop& loop) {
    if (loop.rounds.rounds == 0) return "-";
    return fmt::format("{:.1f}", ratio(loop.rounds.round_cycles, loop.rounds.rounds));
  }

  std::string bar(u64 cycles) const {
    constexpr double width = 10;
    const double filled = width * std::min(1.0, ratio(cycles, report_.total[Column::cycles]));
    return fmt::format("{:<10}", std::string(static_cast<std::size_t>(filled + 0.5), '#'));
  }

  void print_table_head(const char* title, const char* name) {
    text_ +=
        fmt::format("\n{}\n{:>11} {:>5} {:>6} {:>6} {:>5}", title, "", "Share", "Cycles", "Instr", "IPC");
    for (const TableColumn* const column : shown_) text_ += fmt::format(" {:>5}", column->head);
    text_ += fmt::format("  {}\n", name);
  }

  void print_row(const Counts& c, const std::string& name) {
    const u64 cycles = c[Column::cycles], slots = cycles * report_.width;
    text_ += fmt::format(" {} {:>5} {:>6} {:>6} {:>5}", bar(cycles),
                         percent_of(cycles, report_.total[Column::cycles]), compact(cycles),
                         compact(c[Column::instructions]),
                         hides_ipc(c) ? "-" : fmt::format("{:.2f}", ratio(c[Column::instructions], cycles)));
    for (const TableColumn* const column : shown_) {
      const u64 value = column->value(c);
      const std::string shown = column->slots ? percent_of(value, slots) : compact(value);
      text_ += fmt::format(" {:>5}", value == 0 ? "-" : shown);
    }
    text_ += fmt::format("  {}\n", name);
  }

  /// One that retires in cycles of others has no rate of its own.
  bool hides_ipc(const Counts& c) const {
    return c[Column::instructions] > 2 * report_.width * c[Column::cycles];
  }

  void print_more(std::size_t all) {
    if (all > most_rows) text_ += fmt::format(" and {} more, all of them with --json\n", all - most_rows);
  }

  void print_functions() {
    print_table_head("Functions", "Function");
    for (const Function& f : first(report_.functions))
      print_row(f.counts, fmt::format("{} ({})", printable(f.name), printable(base_name(f.module))));
    print_more(report_.functions.size());
  }

  void print_lines() {
    print_table_head("Lines", "Line");
    for (const Line& line : first(report_.lines))
      print_row(line.counts, place_name(report_, line) + function_name(line));
    print_more(report_.lines.size());
  }

  void print_function(const Function& function) {
    print_table_head(
        fmt::format("{} ({})", printable(function.name), printable(base_name(function.module))).c_str(),
        "Line");
    for (const u32 n : function.lines)
      print_row(report_.lines[n].counts, place_name(report_, report_.lines[n]));
    print_table_head("Its instructions", "Instruction");
    std::vector<u32> all;
    for (const u32 n : function.lines)
      all.insert(all.end(), report_.lines[n].instructions.begin(), report_.lines[n].instructions.end());
    std::ranges::stable_sort(all, {}, [&](u32 n) { return report_.instructions[n].address; });
    for (const u32 n : all) {
      const Instruction& i = report_.instructions[n];
      const Line& line = report_.lines[i.line];
      print_row(i.counts,
                fmt::format("{:x}: {}{}", i.address, printable_sentence(i.text),
                            line.number == 0 ? "" : fmt::format("  ; {}", place_name(report_, line))));
    }
  }

  template <class Item>
  static std::span<const Item> first(const std::vector<Item>& items) {
    return std::span(items).first(std::min(items.size(), most_rows));
  }

  const Report& report_;
  Detail detail_;
  std::vector<const TableColumn*> shown_;
  std::string text_;
};

}  // namespace

std::string text_of(const Report& report, std::optional<u32> function, Detail detail) {
  return Printer(report, detail).print(function);
}

}  // namespace pmusim::why

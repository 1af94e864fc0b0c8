// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "base/base_name.h"
#include "base/printable.h"
#include "colours.h"
#include "percent.h"

namespace pmusim::annotate {

namespace {

class AnnotationPrinter {
 public:
  AnnotationPrinter(const Report& report, const AnnotatedFunction& function, Colours colours)
      : report_(report), function_(function), symbol_(report.symbols[function.symbol]), colours_(colours) {
    has_cycles_ =
        std::ranges::any_of(function.blocks, [](const Block& b) { return b.cycles.executions != 0; });
    has_counters_ = std::ranges::any_of(function.blocks, [](const Block& b) { return !b.counters.empty(); });
  }

  std::string print() {
    print_head();
    for (u32 i = 0; i < function_.instructions.size(); ++i) {
      print_source(i);
      print_instruction(i);
    }
    if (!function_.problem.empty()) text_ += fmt::format("\n  ({})\n", printable_sentence(function_.problem));
    return std::move(text_);
  }

 private:
  void print_head() {
    std::string events;
    for (std::size_t e = 0; e < report_.events.size(); ++e)
      events += fmt::format("{}{} ({} samples)", e == 0 ? "" : ", ", printable(report_.events[e].name),
                            symbol_.weights[e].samples);
    std::string head = fmt::format("{} in {} for {}, percent: local period", printable(symbol_.name),
                                   printable(report_.modules[symbol_.module].path), events);
    if (function_.average_ipc)
      head += fmt::format("  (Average IPC: {:.2f}, IPC Coverage: {:.1f}%)", *function_.average_ipc,
                          100 * function_.ipc_coverage);
    text_ += head + "\n" + std::string(std::min<std::size_t>(head.size(), 110), '-') + "\n";
    print_column_names();
  }

  void print_column_names() {
    for (std::size_t e = 0; e < report_.events.size(); ++e) text_ += " Percent";
    if (has_cycles_) text_ += fmt::format(" {:>6}{:>20}", "IPC", "Cycle(min/max)");
    if (has_counters_) text_ += fmt::format(" {:<{}}", "Branch counters", counter_width());
    text_ += " | Source code & Disassembly\n";
  }

  std::size_t counter_width() const {
    return std::max<std::size_t>(15, 5 * report_.branch_counters.size() + 1);
  }

  std::string margin(std::size_t extra) const {
    return std::string(8 * report_.events.size() + (has_cycles_ ? 27 : 0) +
                           (has_counters_ ? 1 + counter_width() : 0) + extra,
                       ' ');
  }

  /// The line of source code where it changes, under the name of the function that it was inlined from.
  void print_source(u32 i) {
    const Instruction& now = function_.instructions[i];
    const Instruction* const before = i == 0 ? nullptr : &function_.instructions[i - 1];
    if (before != nullptr && before->where == now.where && before->inlined == now.inlined) return;
    if (before == nullptr || before->inlined != now.inlined) print_inlined(now);
    if (now.where.line == 0) return;
    const auto& lines = report_.files[now.where.file].lines;
    const std::string known = now.where.line <= lines.size() ? lines[now.where.line - 1] : "";
    text_ += margin(1) + fmt::format(": {:<5} {}\n", now.where.line,
                                     known.empty() ? file_name(now.where) : source_text(known));
  }

  /// Source code has tabs and backslashes; everything else that a terminal would act on is shown as bytes.
  static std::string source_text(std::string_view line) {
    std::string text;
    for (std::size_t tab = 0; tab != line.npos; line.remove_prefix(tab == line.npos ? 0 : tab + 1)) {
      tab = line.find('\t');
      text += printable_sentence(line.substr(0, tab));
      if (tab != line.npos) text += '\t';
    }
    return text;
  }

  void print_inlined(const Instruction& instruction) {
    if (instruction.inlined == nothing) return;
    std::string stack;
    for (const InlinedFrame& frame : function_.inline_stacks[instruction.inlined])
      stack += (stack.empty() ? "" : " > ") + printable(frame.function);
    text_ += margin(1) + fmt::format(":       (inlined) {}\n", stack);
  }

  std::string file_name(const SourcePosition& where) const {
    return fmt::format("{}:{}", printable(base_name(report_.files[where.file].path)), where.line);
  }

  void print_instruction(u32 i) {
    const Instruction& instruction = function_.instructions[i];
    for (std::size_t e = 0; e < report_.events.size(); ++e) {
      const double percent = percent_of(instruction.weights[e].period, symbol_.weights[e].period);
      text_ += " " + painted(fmt::format("{:7.2f}", percent), percent_colour(percent), colours_);
    }
    print_block_columns(i);
    text_ += " :   " +
             painted(fmt::format("{:x}:", instruction.address), address_colour(instruction.heat), colours_) +
             "  " + painted(printable_sentence(instruction.text), code_colour(instruction.heat), colours_);
    print_marks(instruction);
    text_ += "\n";
  }

  const Block* block_ending_at(u32 i) const {
    const auto found = std::ranges::find_if(function_.blocks, [&](const Block& b) {
      return b.first_instruction != nothing && b.first_instruction + b.instructions == i + 1;
    });
    return found == function_.blocks.end() ? nullptr : &*found;
  }

  void print_block_columns(u32 i) {
    if (!has_cycles_ && !has_counters_) return;
    const Block* const block = block_ending_at(i);
    const bool timed = block != nullptr && block->cycles.executions != 0;
    if (has_cycles_) {
      text_ += block != nullptr && block->ipc ? fmt::format(" {:6.2f}", *block->ipc) : std::string(7, ' ');
      text_ += fmt::format("{:>20}", timed ? fmt::format("{}({}/{})", block->cycles.average(),
                                                         block->cycles.min, block->cycles.max)
                                           : "");
    }
    if (has_counters_)
      text_ += fmt::format(" {:<{}}", block != nullptr ? counters(*block) : "", counter_width());
  }

  /// "|AA |B   |": a letter for each average event, three at most; "+" for more, or for sums that are minima.
  std::string counters(const Block& block) const {
    if (block.counters.empty()) return {};
    std::string text = "|";
    for (std::size_t i = 0; i < block.counters.size(); ++i) {
      const u64 average = (block.counters[i] + block.coverage - 1) / std::max<u64>(block.coverage, 1);
      std::string letters(std::min<u64>(average, 3), static_cast<char>('A' + i));
      if (average > 3 || (average != 0 && block.counters_saturated)) letters += '+';
      text += fmt::format("{:<4}|", letters.empty() ? "-" : letters);
    }
    return text;
  }

  void print_marks(const Instruction& instruction) {
    constexpr double least_percent = 0.1;
    std::string marks;
    if (instruction.join && instruction.join->percent > least_percent)
      marks += fmt::format(" +{:.2f}%", instruction.join->percent);
    if (instruction.leave && instruction.leave->percent > least_percent)
      marks += leave_mark(*instruction.leave);
    if (!marks.empty()) text_ += "\t#" + marks;
  }

  static std::string leave_mark(const Leave& leave) {
    const std::string taken = fmt::format(" -{:.2f}%", leave.percent);
    return leave.predicted_percent ? fmt::format("{} (p:{:.2f}%)", taken, *leave.predicted_percent) : taken;
  }

  const Report& report_;
  const AnnotatedFunction& function_;
  const Symbol& symbol_;
  Colours colours_;
  bool has_cycles_, has_counters_;
  std::string text_;
};

}  // namespace

std::string annotation_text(const Report& report, const AnnotatedFunction& function, Colours colours) {
  return AnnotationPrinter(report, function, colours).print();
}

}  // namespace pmusim::annotate

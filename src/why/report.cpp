// SPDX-License-Identifier: MIT
#include "why/report.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "annotate/disassembly.h"
#include "annotate/resolver.h"

namespace pmusim::why {

namespace {

/// Sorts `items` by cycles, and says where each went.
template <class Item>
std::vector<u32> rank(std::vector<Item>& items) {
  std::vector<u32> order(items.size()), place(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater{},
                           [&](u32 index) { return items[index].counts[Column::cycles]; });
  std::vector<Item> sorted;
  for (u32 n = 0; n < order.size(); ++n) {
    place[order[n]] = n;
    sorted.push_back(std::move(items[order[n]]));
  }
  items = std::move(sorted);
  return place;
}

class Builder {
 public:
  Builder(const Collection& collection, const annotate::Options& options)
      : collection_(collection), options_(options), resolver_(collection.spaces, options) {}

  Report build() {
    report_.width = collection_.width;
    report_.total = collection_.total;
    for (const CountedInstruction& counted : collection_.instructions) add(counted);
    for (const CountedBlock& counted : collection_.blocks) add(counted);
    for (const CountedLoop& loop : collection_.loops) add(loop);
    sum_up();
    rank_loops();
    add_notes();
    report_.findings = find_causes(report_);
    return std::move(report_);
  }

 private:
  /// The same code in several processes is one instruction.
  void add(const CountedInstruction& counted) {
    const annotate::Location at = resolver_.locate({counted.space, perf::CpuMode::user}, counted.ip);
    const auto [known, is_new] =
        instruction_index_.try_emplace({at, counted.code}, static_cast<u32>(report_.instructions.size()));
    number_of_counted_.push_back(known->second);
    if (!is_new) {
      report_.instructions[known->second].counts += counted.counts;
      return;
    }
    Instruction instruction{.address = at.address,
                            .text = text_of_code(at, counted.code),
                            .function = function_of(at),
                            .line = 0,
                            .counts = counted.counts,
                            .stride = counted.stride,
                            .chain = counted.chain};
    instruction.line = line_of(at, instruction.function);
    report_.instructions.push_back(std::move(instruction));
  }

  std::string text_of_code(const annotate::Location& at, const std::vector<std::byte>& code) const {
    const auto name = [&](u64 address) { return resolver_.name_of(at.module, address); };
    const auto instructions = annotate::disassemble(code, at.address, options_.syntax, name);
    return instructions.empty() ? "(bad)" : instructions.front().text;
  }

  u32 function_of(const annotate::Location& at) {
    const u32 symbol = resolver_.symbol_at(at);
    const auto [known, is_new] =
        function_index_.try_emplace(symbol, static_cast<u32>(report_.functions.size()));
    if (!is_new) return known->second;
    const auto& content = resolver_.modules()[at.module];
    const auto& found = resolver_.symbols()[symbol];
    report_.functions.push_back({.name = found.name,
                                 .linkage_name = found.linkage_name,
                                 .module = content.path,
                                 .problem = content.content.problem(),
                                 .counts = {},
                                 .events = {},
                                 .lines = {}});
    return known->second;
  }

  u32 line_of(const annotate::Location& at, u32 function) {
    const auto position = resolver_.modules()[at.module].content.position(at.address);
    const std::string file = position ? std::string(position->file) : "";
    const u32 number = position ? position->line : 0;
    const auto [known, is_new] =
        line_index_.try_emplace(std::tuple(function, file, number), static_cast<u32>(report_.lines.size()));
    if (is_new)
      report_.lines.push_back(
          {.file = file, .number = number, .function = function, .counts = {}, .instructions = {}});
    return known->second;
  }

  void add(const CountedBlock& counted) {
    const annotate::Location at = resolver_.locate({counted.space, perf::CpuMode::user}, counted.ip);
    report_.functions[function_of(at)].events += counted.events;
    report_.total_events += counted.events;
  }

  /// The same loop in several processes is one.
  void add(const CountedLoop& counted) {
    const annotate::Location at = resolver_.locate({counted.space, perf::CpuMode::user}, counted.header);
    const auto [known, is_new] = loop_index_.try_emplace(at, static_cast<u32>(report_.loops.size()));
    loop_of_counted_.push_back(known->second);
    if (is_new) report_.loops.emplace_back();
    Loop& loop = report_.loops[known->second];
    loop.header = at.address;
    loop.function = function_of(at);
    loop.rounds += counted.counts;
    loop.blocks = std::max(loop.blocks, static_cast<u32>(counted.blocks.size()));
    if (counted.parent && loop_of_counted_[*counted.parent] != known->second)
      loop.parent = loop_of_counted_[*counted.parent];
    for (const auto& [first, end] : counted.blocks) add_block(loop, counted.space, first, end);
  }

  void add_block(Loop& loop, symbols::AddressSpaces::Id space, u64 first, u64 end) const {
    const auto key = [](const CountedInstruction& i) { return std::pair(i.space, i.ip); };
    const auto& all = collection_.instructions;
    for (auto i = std::ranges::lower_bound(all, std::pair(space, first), {}, key);
         i != all.end() && i->space == space && i->ip < end; ++i)
      loop.instructions.push_back(number_of_counted_[static_cast<std::size_t>(i - all.begin())]);
  }

  /// When functions and lines have their places.
  void rank_loops() {
    for (Loop& loop : report_.loops) {
      std::ranges::sort(loop.instructions);
      loop.instructions.erase(std::unique(loop.instructions.begin(), loop.instructions.end()),
                              loop.instructions.end());
      for (const u32 n : loop.instructions) loop.counts += report_.instructions[n].counts;
      find_lines(loop);
    }
    const std::vector<u32> place = rank(report_.loops);
    for (Loop& loop : report_.loops) {
      if (loop.parent) loop.parent = place[*loop.parent];
      explain(report_, loop);
    }
  }

  void find_lines(Loop& loop) const {
    for (const u32 n : loop.instructions)
      if (report_.instructions[n].address == loop.header)
        loop.file = report_.lines[report_.instructions[n].line].file;
    for (const u32 n : loop.instructions) {
      const Line& line = report_.lines[report_.instructions[n].line];
      if (line.number == 0 || line.function != loop.function || line.file != loop.file) continue;
      loop.first_line = loop.first_line == 0 ? line.number : std::min(loop.first_line, line.number);
      loop.last_line = std::max(loop.last_line, line.number);
    }
  }

  void sum_up() {
    for (const Instruction& each : report_.instructions) {
      report_.functions[each.function].counts += each.counts;
      report_.lines[each.line].counts += each.counts;
    }
    const std::vector<u32> function_place = rank(report_.functions), line_place = rank(report_.lines);
    for (Instruction& each : report_.instructions) {
      each.function = function_place[each.function];
      each.line = line_place[each.line];
    }
    for (Line& line : report_.lines) line.function = function_place[line.function];
    for (Loop& loop : report_.loops) loop.function = function_place[loop.function];
    for (u32 n = 0; n < report_.lines.size(); ++n)
      report_.functions[report_.lines[n].function].lines.push_back(n);
    for (u32 n = 0; n < report_.instructions.size(); ++n)
      report_.lines[report_.instructions[n].line].instructions.push_back(n);
    for (Line& line : report_.lines)
      std::ranges::stable_sort(line.instructions, {}, [&](u32 n) { return report_.instructions[n].address; });
  }

  void add_notes() {
    if (collection_.time_is_recorded)
      report_.notes.emplace_back(
          "the trace holds recorded time: cycles are its own, and what they were lost to is not known");
    if (collection_.has_threads)
      report_.notes.emplace_back(
          "threads take turns on one CPU here, so false sharing costs nothing; pmusim mem report names the "
          "lines of "
          "memory that they share");
    if (!collection_.addresses)
      report_.notes.emplace_back(
          "the trace holds no data addresses: every access is taken for a hit in L1 and the TLB");
  }

  const Collection& collection_;
  const annotate::Options& options_;
  annotate::Resolver resolver_;
  Report report_;
  std::map<std::pair<annotate::Location, std::vector<std::byte>>, u32> instruction_index_;
  std::map<annotate::Location, u32> loop_index_;
  std::vector<u32> number_of_counted_, loop_of_counted_;  // in the report, by number in the collection
  std::map<u32, u32> function_index_;
  std::map<std::tuple<u32, std::string, u32>, u32> line_index_;
};

}  // namespace

Report make_report(const Collection& collection, const annotate::Options& options) {
  return Builder(collection, options).build();
}

}  // namespace pmusim::why

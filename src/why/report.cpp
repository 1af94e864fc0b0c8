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
    sum_up();
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
    if (!collection_.addresses)
      report_.notes.emplace_back(
          "the trace holds no data addresses: every access is taken for a hit in L1 and the TLB");
  }

  const Collection& collection_;
  const annotate::Options& options_;
  annotate::Resolver resolver_;
  Report report_;
  std::map<std::pair<annotate::Location, std::vector<std::byte>>, u32> instruction_index_;
  std::map<u32, u32> function_index_;
  std::map<std::tuple<u32, std::string, u32>, u32> line_index_;
};

}  // namespace

Report make_report(const Collection& collection, const annotate::Options& options) {
  return Builder(collection, options).build();
}

}  // namespace pmusim::why

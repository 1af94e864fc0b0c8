// SPDX-License-Identifier: MIT
#include "function_builder.h"

#include <algorithm>
#include <iterator>

#include "base/demangle.h"
#include "disassembly.h"
#include "percent.h"

namespace pmusim::annotate {

namespace {

/// Longer functions are a broken symbol table.
constexpr u64 longest_function = 1 << 20;
/// Instructions times inlined calls: more is broken debug information.
constexpr u64 most_inlined = 4 << 20;

}  // namespace

Jumps jumps_by_symbol(const CodeCounts& code, Resolver& resolver) {
  Jumps jumps;
  for (const CodeEdge& edge : code.edges) {
    const u32 symbol = resolver.symbol_at(edge.from);
    if (symbol == resolver.symbol_at(edge.to)) jumps[symbol].push_back(edge.count);
  }
  return jumps;
}

AnnotatedFunction FunctionBuilder::build(u32 symbol, const std::vector<EdgeCount>& jumps) {
  function_.symbol = symbol;
  add_instructions();
  add_inlined_frames();
  add_weights();
  add_coverage();
  add_blocks();
  time_blocks();
  add_averages();
  add_jumps(jumps);
  say_what_is_missing();
  return std::move(function_);
}

/// The instruction that an address is in; `nothing` outside of the function.
u32 FunctionBuilder::instruction_at(u64 address) const {
  const auto& all = function_.instructions;
  const auto after = std::ranges::upper_bound(all, address, {}, &Instruction::address);
  if (after == all.begin() || address >= std::prev(after)->address + std::prev(after)->bytes) return nothing;
  return static_cast<u32>(std::prev(after) - all.begin());
}

void FunctionBuilder::add_instructions() {
  const u64 bytes = std::min(symbol().end - symbol().start, longest_function);
  const std::vector<std::byte> code = content().code(symbol().start, bytes);
  const auto name = [&](u64 address) { return resolver_.name_of(module_, address); };
  for (DisassembledInstruction& d : disassemble(code, symbol().start, options_.syntax, name)) {
    Instruction instruction{.address = d.address, .bytes = d.bytes, .text = std::move(d.text)};
    instruction.jump_target = d.jump_target;
    instruction.where = files_.number(content().position(d.address));
    instruction.weights.resize(report_.events.size());
    function_.instructions.push_back(std::move(instruction));
  }
}

void FunctionBuilder::add_inlined_frames() {
  auto& instructions = function_.instructions;
  std::vector<std::vector<InlinedFrame>> stacks(instructions.size());
  u64 steps = 0;
  for (const symbols::InlinedCall& call : content().inlined_calls(symbol().start, symbol().end)) {
    const InlinedFrame frame{demangled(call.function), files_.number(call.call)};
    auto at = std::ranges::lower_bound(instructions, call.start, {}, &Instruction::address);
    for (; at != instructions.end() && at->address < call.end && steps < most_inlined; ++at, ++steps)
      stacks[static_cast<std::size_t>(at - instructions.begin())].push_back(frame);
  }
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (stacks[i].empty()) continue;
    auto& known = function_.inline_stacks;
    if (known.empty() || known.back() != stacks[i]) known.push_back(stacks[i]);
    instructions[i].inlined = static_cast<u32>(known.size() - 1);
  }
}

void FunctionBuilder::add_weights() {
  for (auto at = counts_.hits.lower_bound(symbol().start);
       at != counts_.hits.end() && at->first < symbol().end; ++at)
    if (const u32 i = instruction_at(at->first); i != nothing)
      add(function_.instructions[i].weights, at->second);
}

void FunctionBuilder::add_coverage() {
  if (report_.totals.branch_entries == 0) return;
  for (Instruction& instruction : function_.instructions) {
    instruction.heat = 0;
    const BlockRange* const range = counts_.ranges.find(instruction.address);
    if (range == nullptr) continue;
    instruction.coverage = range->coverage;
    instruction.heat = percent_of(range->coverage, symbol().max_coverage) / 100;
    add_marks(instruction, *range);
  }
}

void FunctionBuilder::add_marks(Instruction& instruction, const BlockRange& range) {
  if (range.is_target && range.first == instruction.address)
    instruction.join = {range.entry, percent_of(range.entry, counts_.ranges.coverage_of_next_branch(range))};
  if (range.is_branch && range.last == instruction.address)
    instruction.leave = {range.taken, range.predicted, range.mispredicted,
                         percent_of(range.taken, range.coverage),
                         predicted_percent(range.predicted, range.mispredicted)};
}

void FunctionBuilder::add_blocks() {
  const auto& ranges = counts_.ranges.ranges();
  for (auto at = std::ranges::lower_bound(ranges, symbol().start, {}, &BlockRange::last);
       at != ranges.end() && at->first < symbol().end; ++at) {
    Block block{.first = std::max(at->first, symbol().start), .last = std::min(at->last, symbol().end - 1)};
    block.coverage = at->coverage;
    block.entry = at->entry;
    block.taken = at->taken;
    block.predicted = at->predicted;
    block.mispredicted = at->mispredicted;
    // What goes on behind a branch that was not taken begins inside that branch's bytes.
    const auto first =
        std::ranges::lower_bound(function_.instructions, block.first, {}, &Instruction::address);
    const auto end = std::ranges::upper_bound(function_.instructions, block.last, {}, &Instruction::address);
    if (first < end) {
      block.first = first->address;
      block.last = std::prev(end)->address;
      block.first_instruction = static_cast<u32>(first - function_.instructions.begin());
      block.instructions = static_cast<u32>(end - first);
    } else if (!function_.instructions.empty()) {
      continue;
    }
    function_.blocks.push_back(std::move(block));
  }
}

/// Of the lines that end with a block's branch the longest within the function says how long it takes.
void FunctionBuilder::time_blocks() {
  std::map<u64, const LineCount*> longest;
  const auto& lines = counts_.lines;
  for (auto at = std::ranges::lower_bound(lines, symbol().start, {}, &LineCount::first);
       at != lines.end() && at->first < symbol().end; ++at) {
    if (at->last >= symbol().end) continue;
    if (at->cycles.executions != 0 || at->has_counters) longest.emplace(at->last, &*at);
  }
  for (Block& block : function_.blocks)
    if (const auto line = longest.find(block.last); line != longest.end()) time_block(block, *line->second);
}

void FunctionBuilder::time_block(Block& block, const LineCount& line) {
  block.cycles = line.cycles;
  const std::size_t counters = line.has_counters ? report_.branch_counters.size() : 0;
  block.counters.assign(line.counter_sum, line.counter_sum + std::min(counters, std::size(line.counter_sum)));
  block.counters_saturated = line.counters_saturated;
  const u32 first = instruction_at(line.first), last = instruction_at(line.last);
  if (line.cycles.sum == 0 || first == nothing || last == nothing) return;
  const u64 instructions = (last - first + 1) * line.cycles.executions;
  timed_instructions_ += instructions;
  block.ipc = static_cast<double>(instructions) / static_cast<double>(line.cycles.sum);
}

void FunctionBuilder::add_averages() {
  u64 cycles = 0;
  std::vector<bool> covered(function_.instructions.size(), false);
  for (const Block& block : function_.blocks) {
    if (!block.ipc) continue;
    cycles += block.cycles.sum;
    std::fill_n(covered.begin() + block.first_instruction, block.instructions, true);
  }
  if (cycles == 0) return;
  function_.average_ipc = static_cast<double>(timed_instructions_) / static_cast<double>(cycles);
  function_.ipc_coverage =
      percent_of(static_cast<u64>(std::ranges::count(covered, true)), covered.size()) / 100;
}

void FunctionBuilder::add_jumps(const std::vector<EdgeCount>& jumps) {
  for (const EdgeCount& edge : jumps) {
    const Jump jump{instruction_at(edge.from), instruction_at(edge.to), edge.taken, edge.predicted,
                    edge.mispredicted};
    if (jump.from != nothing && jump.to != nothing) function_.jumps.push_back(jump);
  }
  std::ranges::stable_sort(function_.jumps, std::greater{}, &Jump::taken);
}

void FunctionBuilder::say_what_is_missing() {
  if (function_.instructions.empty()) {
    function_.problem = report_.modules[symbol().module].problem;
    if (function_.problem.empty()) function_.problem = "the file has no code here";
    return;
  }
  bool has_lines = false, has_text = true;
  for (const Instruction& i : function_.instructions) {
    if (i.where.line == 0) continue;
    has_lines = true;
    has_text = files_.read(i.where.file) && has_text;
  }
  if (!has_lines) function_.problem = "no debug information tells the source lines";
  if (!has_text)
    function_.problem = "some of its source files cannot be read here, or are not called as source code is";
}

}  // namespace pmusim::annotate

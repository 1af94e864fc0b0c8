// SPDX-License-Identifier: MIT
#include "core/memory_blocks.h"

#include <algorithm>
#include <utility>

#include "core/core_costs.h"
#include "pmusim/cpu/core_parameters.h"

namespace pmusim {
namespace {

FrontEnd::BlockCode code_of(const LoweredBlock& lowered, const FrontEnd& front_end) {
  std::vector<FrontEnd::Code> code;
  for (const LoweredInstruction& each : lowered.instructions)
    if (!each.second_of_pair) code.push_back(FrontEnd::Code::of(each));
  return front_end.block_of(std::move(code));
}

void find_stack_use(const LoweredBlock& lowered, MemoryBlocks::Block& made) {
  using x86::StackUse;
  constexpr int bytes = 8;
  int moved = 0;
  for (const LoweredInstruction& each : lowered.instructions) {
    if (each.stack == StackUse::uses || each.stack == StackUse::uses_and_moves) {
      if (made.uses_stack)
        made.stack_syncs = static_cast<u8>(made.stack_syncs + (moved != 0 ? 1 : 0));
      else
        made.moved_before = moved;
      made.uses_stack = true;
      moved = 0;
    }
    if (each.stack == StackUse::moves || each.stack == StackUse::uses_and_moves)
      moved += each.stores() ? -bytes : bytes;
  }
  made.moved_behind = moved;
}

}  // namespace

MemoryBlocks::MemoryBlocks(const CoreParameters& core)
    : parameters_(core), costs_(costs_of(core)), dataflow_(core) {}

const MemoryBlocks::Block& MemoryBlocks::make(const trace::Block& block, const FrontEnd& front_end) {
  if (block.id >= blocks_.size()) {
    const std::size_t size = std::max<std::size_t>(block.id + 1, 2 * blocks_.size());
    blocks_.resize(size);
    code_.resize(size);
    lowered_.resize(size);
  }
  Block& made = blocks_[block.id];
  LoweredBlock& lowered = lowered_[block.id];
  Lowering{parameters_, *costs_}.lower(block, lowered);
  Dataflow::decide_slow_addresses(block, lowered);
  code_[block.id] = code_of(lowered, front_end);
  const LoweredInstruction& last = lowered.instructions.back();
  made.branch_ip = last.ip;
  made.end = last.end();
  made.target = block.instructions.back().target;
  made.branch = last.branch;
  made.fused_length = lowered.fused_length(lowered.instructions.size() - 1);
  made.branches_within = lowered.branches_within;
  made.instructions = static_cast<u16>(lowered.instructions.size());
  find_lines(lowered, made);
  find_accesses(lowered, made);
  find_stack_use(lowered, made);
  keep_flow(summarize(block, lowered, dataflow_, *costs_), made);
  return made;
}

void MemoryBlocks::keep_flow(const BlockFlow& flow, Block& made) {
  made.slots = flow.slots;
  made.port_slots = flow.port_slots;
  const std::size_t registers = std::max(flow.inputs.size(), flow.outputs.size());
  if (registers > Block::most_registers || flow.stores > Block::most_stores) {
    made.one_by_one = true;
    return;
  }
  made.inputs = static_cast<u8>(flow.inputs.size());
  made.outputs = static_cast<u8>(flow.outputs.size());
  made.stores = static_cast<u8>(flow.stores);
  std::ranges::copy(flow.inputs, made.read.begin());
  std::ranges::copy(flow.outputs, made.written.begin());
  made.first_delay = static_cast<u32>(delays_.size());
  const std::size_t rows = flow.rows();
  for (std::size_t column = 0; column <= flow.inputs.size(); ++column) {
    const auto first = flow.delays.begin() + static_cast<std::ptrdiff_t>(column * rows);
    delays_.insert(delays_.end(), first, first + static_cast<std::ptrdiff_t>(rows));
    delays_.resize((delays_.size() + rows_at_once - 1) / rows_at_once * rows_at_once);
  }
}

void MemoryBlocks::find_lines(const LoweredBlock& lowered, Block& made) {
  const auto line_of = [&](u64 address) { return address / parameters_.l1i.line_bytes; };
  made.first_line = static_cast<u32>(lines_.size());
  for (const LoweredInstruction& each : lowered.instructions)
    for (const u64 address : {each.ip, each.end() - 1}) {
      if (made.lines != 0 && line_of(lines_.back().address) == line_of(address)) continue;
      lines_.push_back({address, static_cast<u16>(&each - lowered.instructions.data())});
      ++made.lines;
    }
}

// Loads of an instruction come before its stores.
void MemoryBlocks::find_accesses(const LoweredBlock& lowered, Block& made) {
  u16 address = 0;
  u8 stores = 0;
  made.first_access = static_cast<u32>(accesses_.size());
  for (const LoweredInstruction& each : lowered.instructions) {
    for (const AccessKind kind : {AccessKind::load, AccessKind::store})
      for (u16 operand = 0; operand < each.operands; ++operand) {
        const LoweredInstruction::Operand& memory = each.memory[operand];
        if (kind == AccessKind::load ? !memory.load : !memory.store) continue;
        accesses_.push_back({.instruction = static_cast<u16>(&each - lowered.instructions.data()),
                             .address = static_cast<u16>(address + operand),
                             .bytes = std::max<u16>(memory.bytes, 1),
                             .kind = kind,
                             .store = stores,
                             .ip = each.ip});
        ++made.accesses;
      }
    address = static_cast<u16>(address + each.operands);
    stores = static_cast<u8>(stores + (each.stores() ? 1 : 0));
    made.one_by_one |= each.rare || each.rep;
  }
}

}  // namespace pmusim

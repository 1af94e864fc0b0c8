// SPDX-License-Identifier: MIT
#include "trace/code_table.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace pmusim::trace {
namespace {

// An instruction's shape decides how many addresses and counts a run of it has. It is written down to notice
// when the decoder of the reading build disagrees with that of the writing one.
constexpr u8 length_bits = 0x0F;
constexpr unsigned operands_shift = 4;
constexpr u8 rep_bit = 0x40;

u8 shape(const x86::Instruction& i) {
  return static_cast<u8>(i.length | i.memory_operands << operands_shift | (i.rep ? rep_bit : 0));
}

x86::Instruction decode_with_length(std::span<const std::byte> code, u64 ip) {
  x86::Instruction instruction = x86::decode(code, ip);
  if (instruction.length == code.size()) return instruction;
  // It executed, so it is an instruction; this decoder is older than the CPU.
  instruction = {};
  instruction.ip = ip;
  instruction.length = static_cast<u8>(code.size());
  instruction.signals = {Signal::instruction};
  return instruction;
}

}  // namespace

const CodedBlock& CodeTable::add(u64 start, std::span<const std::byte> code, std::span<const u8> lengths) {
  assert(!lengths.empty() && lengths.size() <= max_block_instructions);
  assert(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) == code.size());
  CodedBlock& added = blocks_.emplace_back();
  by_id_.push_back(&added);
  Block& block = added.block;
  block.id = static_cast<u32>(blocks_.size() - 1);
  block.code.assign(code.begin(), code.end());
  block.instructions.reserve(lengths.size());
  std::size_t offset = 0;
  for (u8 length : lengths) {
    const auto& i = block.instructions.emplace_back(
        decode_with_length(std::span(block.code).subspan(offset, length), start + offset));
    offset += length;
    block.operands += i.memory_operands;
    block.reps += i.rep ? 1 : 0;
    const u32 context = contexts_.try_emplace(i.ip, static_cast<u32>(contexts_.size())).first->second;
    added.contexts.push_back(context);
    for (u32 operand = 0; operand < i.memory_operands; ++operand)
      added.operands.push_back(2 * context + operand);
  }
  added.start = block.start();
  added.end = block.end();
  added.instructions = static_cast<u32>(lengths.size());
  static_instructions_ += lengths.size();
  return added;
}

void encode_block(const Block& block, u64 previous_end, ByteWriter& out) {
  out.difference(block.start() - previous_end);
  out.number(block.instructions.size());
  for (const auto& i : block.instructions) out.byte(shape(i));
  out.bytes({reinterpret_cast<const u8*>(block.code.data()), block.code.size()});
}

const CodedBlock* decode_block(ByteReader& in, u64 previous_end, CodeTable& table) {
  const u64 start = previous_end + in.difference();
  const u64 count = in.number();
  if (count == 0 || count > max_block_instructions) return nullptr;
  if (!table.has_room_for(count)) return nullptr;
  const auto shapes = in.bytes(count);
  std::vector<u8> lengths(shapes.size());
  std::ranges::transform(shapes, lengths.begin(), [](u8 s) { return static_cast<u8>(s & length_bits); });
  const auto code = in.bytes(std::accumulate(lengths.begin(), lengths.end(), u64{0}));
  if (!in.ok() || std::ranges::find(lengths, u8{0}) != lengths.end()) return nullptr;

  const CodedBlock& added = table.add(start, std::as_bytes(code), lengths);
  return std::ranges::equal(added.block.instructions, shapes, {}, shape) ? &added : nullptr;
}

std::string_view decode_blocks(ByteReader& in, CodeTable& table) {
  u64 previous_end = 0;
  while (!in.at_end()) {
    const CodedBlock* const added = decode_block(in, previous_end, table);
    if (added == nullptr)
      return table.has_room_for(max_block_instructions) ? does_not_decode
                                                        : "more code than a file of this size can hold";
    previous_end = added->block.end();
  }
  return {};
}

}  // namespace pmusim::trace

// SPDX-License-Identifier: MIT
#include "trace/code_table.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace pmusim::trace {
namespace {

constexpr u32 no_context = ~u32{0};

// An instruction's shape decides how many addresses and counts a run of it has. It is written down to notice
// when the decoder of the reading build disagrees with that of the writing one.
constexpr u8 length_bits = 0x0F;
constexpr unsigned operands_shift = 4;
constexpr u8 rep_bit = 0x40;
constexpr u8 kernel_bit = 0x80;  // of all instructions of a block

u8 shape(const x86::Instruction& i) {
  return static_cast<u8>(i.length | i.memory_operands << operands_shift | (i.rep ? rep_bit : 0));
}

u8 ring_bit(const Block& block) { return block.ring == Cpl::kernel ? kernel_bit : u8{0}; }

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

bool has_bytes(const Block& block, const x86::Instruction& instruction, std::span<const std::byte> code) {
  return std::ranges::equal(block.code_of(instruction), code);
}

}  // namespace

const CodedBlock& CodeTable::add(u64 start, std::span<const std::byte> code, std::span<const u8> lengths,
                                 Cpl ring) {
  static_instructions_ += lengths.size();
  CodedBlock& added = build(size(), start, code, lengths);
  added.block.ring = ring;
  decoded_.push_back(&added);
  return added;
}

std::string_view CodeTable::define(std::vector<u8> stream) {
  ByteReader in(streams_.emplace_back(std::move(stream)));
  u64 previous_end = 0;
  while (!in.at_end()) {
    if (!define_next(in, previous_end))
      return has_room_for(max_block_instructions) ? does_not_decode
                                                  : "more code than a file of this size can hold";
    previous_end = defined_.back().start + defined_.back().code.size();
  }
  return {};
}

bool CodeTable::define_next(ByteReader& in, u64 previous_end) {
  const u64 start = previous_end + in.difference();
  const u64 count = in.number();
  if (count == 0 || count > max_block_instructions || !has_room_for(count)) return false;
  const auto shapes = in.bytes(count);
  u64 bytes = 0;
  for (const u8 shape : shapes) {
    if ((shape & length_bits) == 0) return false;
    bytes += shape & length_bits;
  }
  const auto code = in.bytes(bytes);
  if (!in.ok()) return false;
  defined_.push_back({start, shapes, code});
  decoded_.push_back(nullptr);
  static_instructions_ += count;
  return true;
}

const CodedBlock* CodeTable::decode(std::size_t id) {
  const Definition& definition = defined_[id];
  std::array<u8, max_block_instructions> lengths{};
  std::ranges::transform(definition.shapes, lengths.begin(),
                         [](u8 s) { return static_cast<u8>(s & length_bits); });
  CodedBlock& built = build(id, definition.start, std::as_bytes(definition.code),
                            std::span(lengths).first(definition.shapes.size()));
  built.block.ring = (definition.shapes.front() & kernel_bit) != 0 ? Cpl::kernel : Cpl::user;
  const u8 ring = ring_bit(built.block);
  if (!std::ranges::equal(built.block.instructions, definition.shapes, {},
                          [&](const x86::Instruction& i) { return static_cast<u8>(shape(i) | ring); }))
    return nullptr;
  return decoded_[id] = &built;
}

CodedBlock& CodeTable::build(std::size_t id, u64 start, std::span<const std::byte> code,
                             std::span<const u8> lengths) {
  assert(!lengths.empty() && lengths.size() <= max_block_instructions);
  assert(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) == code.size());
  CodedBlock& built = blocks_.emplace_back();
  Block& block = built.block;
  block.id = static_cast<u32>(id);
  block.code.assign(code.begin(), code.end());
  block.instructions.reserve(lengths.size());
  built.numbers.reserve(2 * lengths.size());
  std::size_t offset = 0;
  for (u32 previous = no_context; const u8 length : lengths) {
    add_instruction(built, start + offset, code.subspan(offset, length), previous);
    previous = built.numbers.back();
    offset += length;
  }
  number_operands(built);
  return built;
}

void CodeTable::add_instruction(CodedBlock& built, u64 ip, std::span<const std::byte> code, u32 previous) {
  const u32 context = context_of(ip, previous);
  built.numbers.push_back(context);
  Place& place = places_[context];
  Block& block = built.block;
  const auto* known = place.block == nullptr ? nullptr : &place.block->block.instructions[place.index];
  if (known != nullptr && has_bytes(place.block->block, *known, code)) {
    block.instructions.push_back(*known);
  } else {
    place.block = &built;
    place.index = static_cast<u32>(block.instructions.size());
    block.instructions.push_back(decode_with_length(code, ip));
  }
  block.operands += block.instructions.back().memory_operands;
  block.reps += block.instructions.back().rep ? 1 : 0;
}

// What follows an instruction in one block follows it in the others, too: that is looked at first.
u32 CodeTable::context_of(u64 ip, u32 previous) {
  if (previous != no_context) {
    const Place& before = places_[previous];
    const auto& instructions = before.block->block.instructions;
    const std::size_t next = before.index + 1;
    if (next < instructions.size()) {
      assert(instructions[next].ip == ip);
      return before.block->numbers[next];
    }
  }
  const auto context = contexts_.number(ip);
  if (context.is_new) places_.emplace_back();
  return context.value;
}

void CodeTable::number_operands(CodedBlock& built) {
  for (std::size_t n = 0; n < built.instructions(); ++n) {
    auto& numbers = places_[built.numbers[n]].operands;
    for (std::size_t operand = 0; operand < built.block.instructions[n].memory_operands; ++operand) {
      if (numbers[operand] == unnumbered) numbers[operand] = operands_++;
      built.numbers.push_back(numbers[operand]);
    }
  }
}

void encode_block(const Block& block, u64 previous_end, ByteWriter& out) {
  out.difference(block.start() - previous_end);
  out.number(block.instructions.size());
  for (const auto& i : block.instructions) out.byte(static_cast<u8>(shape(i) | ring_bit(block)));
  out.bytes({reinterpret_cast<const u8*>(block.code.data()), block.code.size()});
}

}  // namespace pmusim::trace

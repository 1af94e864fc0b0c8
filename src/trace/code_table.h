// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_CODE_TABLE_H
#define PMUSIM_TRACE_CODE_TABLE_H

#include <array>
#include <boost/container/deque.hpp>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "pmusim/trace/trace.h"
#include "trace/address_numbers.h"
#include "trace/bytes.h"
#include "trace/format.h"

namespace pmusim::trace {

/// A block with the number of each instruction's prediction context. Blocks that are entered in the middle
/// share instructions, so contexts belong to the instruction's address, not to the block.
struct alignas(64) CodedBlock {
  Block block;
  std::vector<u32> numbers;  ///< of each instruction's context, then of each memory operand
  std::size_t instructions() const { return block.instructions.size(); }
  std::span<const u32> contexts() const { return std::span(numbers).first(instructions()); }
  /// As many as the block has `operands`.
  std::span<const u32> operand_numbers() const { return std::span(numbers).subspan(instructions()); }
};
inline constexpr std::size_t max_block_operands = 2 * max_block_instructions;

/// Every block of a trace, by id. Writer and reader fill it in the same order.
///
/// A reader learns of blocks when a chunk begins, and decodes them when they run: not all do, of a program
/// that was recorded from somewhere on, or is replayed from there. Of those that do many are ends of others,
/// entered in the middle: what stands in several is decoded in the first, and copied.
class CodeTable {
 public:
  /// A block that is going to run.
  const CodedBlock& add(u64 start, std::span<const std::byte> code, std::span<const u8> lengths,
                        Cpl ring = Cpl::user);
  /// Those that a chunk's stream defines. What is wrong with it; empty where nothing is.
  std::string_view define(std::vector<u8> stream);

  std::size_t size() const { return decoded_.size(); }
  /// One that was added or decoded.
  const CodedBlock& operator[](std::size_t id) const { return *decoded_[id]; }
  /// Decodes one that was not. Null where this build understands the instructions' accesses in another way
  /// than the one that wrote it.
  const CodedBlock* decode(std::size_t id);

  void limit_instructions(u64 limit) { limit_ = limit; }
  u64 static_instructions() const { return static_instructions_; }
  /// Contexts, and numbers of operands, of what was decoded.
  std::size_t contexts() const { return places_.size(); }
  std::size_t operands() const { return operands_; }

 private:
  struct Definition {
    u64 start = 0;
    std::span<const u8> shapes, code;  // in one of the streams
  };
  static constexpr u32 unnumbered = ~u32{0};
  /// Where an instruction stands that was decoded.
  struct Place {
    const CodedBlock* block = nullptr;
    u32 index = 0;
    std::array<u32, 2> operands{unnumbered, unnumbered};  ///< of its context
  };

  bool define_next(ByteReader& in, u64 previous_end);
  bool has_room_for(u64 count) const { return static_instructions_ + count <= limit_; }
  CodedBlock& build(std::size_t id, u64 start, std::span<const std::byte> code, std::span<const u8> lengths);
  /// Adds what is at `ip`, whose bytes are `code`; `previous` is the context of the instruction before it.
  void add_instruction(CodedBlock& block, u64 ip, std::span<const std::byte> code, u32 previous);
  u32 context_of(u64 ip, u32 previous);
  void number_operands(CodedBlock& block);

  std::vector<const CodedBlock*> decoded_;  // by id
  std::vector<Definition> defined_;         // by id, of a reader
  std::deque<std::vector<u8>> streams_;     // with definitions
  // Many side by side, as replays jump between them: they share pages, and references stay valid.
  using Blocks =
      boost::container::deque<CodedBlock, std::allocator<CodedBlock>,
                              boost::container::deque_options_t<boost::container::block_size<512u>>>;
  Blocks blocks_;
  AddressNumbers contexts_;
  std::vector<Place> places_;  // by context
  u32 operands_ = 0;
  u64 static_instructions_ = 0;
  u64 limit_ = static_instruction_limit(0);
};

/// Appends a block's definition; `previous_end` is where the block defined before it ended.
void encode_block(const Block& block, u64 previous_end, ByteWriter& out);

/// Of what is damaged in no way that has a name.
inline constexpr std::string_view does_not_decode = "chunk does not decode";

}  // namespace pmusim::trace

#endif

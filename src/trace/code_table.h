// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_CODE_TABLE_H
#define PMUSIM_TRACE_CODE_TABLE_H

#include <deque>
#include <string_view>
#include <unordered_map>

#include "pmusim/trace/block.h"
#include "trace/bytes.h"
#include "trace/format.h"

namespace pmusim::trace {

/// A block with the number of each instruction's prediction context. Blocks that are entered in the middle
/// share instructions, so contexts belong to the instruction's address, not to the block.
struct CodedBlock {
  // What decoding asks for again and again.
  u64 start = 0, end = 0;
  std::vector<u32> operands;  ///< of each memory operand, two numbers being each context's
  u32 instructions = 0;
  Block block;
  std::vector<u32> contexts;
};
inline constexpr std::size_t max_block_operands = 2 * max_block_instructions;

/// Every block of a trace, by id. Writer and reader fill it in the same order.
class CodeTable {
 public:
  const CodedBlock& add(u64 start, std::span<const std::byte> code, std::span<const u8> lengths);

  std::size_t size() const { return by_id_.size(); }
  const CodedBlock& operator[](std::size_t id) const { return *by_id_[id]; }
  /// Whether `count` more instructions may be added.
  bool has_room_for(u64 count) const { return static_instructions_ + count <= limit_; }
  void limit_instructions(u64 limit) { limit_ = limit; }
  u64 static_instructions() const { return static_instructions_; }
  std::size_t contexts() const { return contexts_.size(); }

 private:
  std::deque<CodedBlock> blocks_;  // references stay valid
  std::vector<const CodedBlock*> by_id_;
  std::unordered_map<u64, u32> contexts_;
  u64 static_instructions_ = 0;
  u64 limit_ = static_instruction_limit(0);
};

/// Appends a block's definition; `previous_end` is where the block defined before it ended.
void encode_block(const Block& block, u64 previous_end, ByteWriter& out);

/// Adds the next definition to `table`; null where it is damaged, or where this build understands the
/// instructions' accesses in another way than the one that wrote it.
const CodedBlock* decode_block(ByteReader& in, u64 previous_end, CodeTable& table);

/// Adds all definitions of a chunk. What is wrong with them; empty where nothing is.
std::string_view decode_blocks(ByteReader& in, CodeTable& table);
/// Of what is damaged in no way that has a name.
inline constexpr std::string_view does_not_decode = "chunk does not decode";

}  // namespace pmusim::trace

#endif

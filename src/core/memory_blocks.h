// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_MEMORY_BLOCKS_H
#define PMUSIM_SRC_CORE_MEMORY_BLOCKS_H

#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/block_flow.h"
#include "core/front_end.h"
#include "core/lowered_block.h"
#include "cpu/memory_signals.h"

namespace pmusim {

/// The blocks of a trace as level `memory` needs them, by their numbers: made when a block first runs.
class MemoryBlocks {
 public:
  /// Rows of a column that are one operation of the host.
  static constexpr std::size_t rows_at_once = 4;

  /// A place in memory that an instruction accesses.
  struct Access {
    u16 instruction = 0;
    u16 address = 0;  ///< which of those of the block
    u16 bytes = 0;
    AccessKind kind = AccessKind::load;
    u8 store = 0;  ///< which of the instructions that store
    u64 ip = 0;
  };
  /// A line of code that execution enters.
  struct Line {
    u64 address = 0;
    u16 instruction = 0;
  };
  /// What an execution needs to know of its block where all is in L1. Programs are larger than caches, so it
  /// is small, and what follows is fetched early.
  struct alignas(64) Block {
    static constexpr std::size_t most_registers = 16, most_stores = 16;

    u64 branch_ip = 0, end = 0, target = 0;                 // of its last instruction
    u32 first_line = 0, first_access = 0, first_delay = 0;  // where theirs begin
    u32 slots = 0, port_slots = 0, followed_by = 0;
    u16 instructions = 0;  // 0: not made yet
    u16 lines = 0, accesses = 0;
    u8 inputs = 0, outputs = 0, stores = 0;  // as BlockFlow has them
    std::array<u8, most_registers> read{}, written{};
    // Uops that bring RSP up to date, which no code has: one at the first use of RSP if pushes and pops came
    // before it, and those that follow from the block itself.
    bool uses_stack = false;
    u8 stack_syncs = 0;
    i32 moved_before = 0, moved_behind = 0;  // bytes, before the first use and behind the last
    BranchKind branch = BranchKind::none;
    u8 fused_length = 0;  // as Retirement has it, of the branch
    bool branches_within = false;
    /// Always: time stands still around it, or how much it accesses is not known, or it has much to sum up.
    bool one_by_one = false;
  };

  explicit MemoryBlocks(const CoreParameters& core);

  /// Makes it if it is new.
  const Block& of(const trace::Block& block, const FrontEnd& front_end) {
    if (block.id < blocks_.size() && blocks_[block.id].instructions != 0) return blocks_[block.id];
    return make(block, front_end);
  }
  /// `block` runs now: what ran after it the last time comes into the host's caches.
  void fetch_what_follows(const Block& block) {
    const auto number = static_cast<std::size_t>(&block - blocks_.data());
    blocks_[std::exchange(previous_, number)].followed_by = static_cast<u32>(number);
    const Block& next = blocks_[block.followed_by];
    __builtin_prefetch(&next);
    __builtin_prefetch(&next.read);
    __builtin_prefetch(&code_[block.followed_by]);
  }

  // of a block that has been made
  const LoweredBlock& lowered(const trace::Block& block) const { return lowered_[block.id]; }
  FrontEnd::BlockCode& code(const trace::Block& block) { return code_[block.id]; }
  std::span<const Line> lines_of(const Block& block) const {
    return std::span(lines_).subspan(block.first_line, block.lines);
  }
  std::span<const Access> accesses_of(const Block& block) const {
    return std::span(accesses_).subspan(block.first_access, block.accesses);
  }
  /// The columns of its BlockFlow, each filled up to rows_of().
  const i32* delays_of(const Block& block) const { return delays_.data() + block.first_delay; }
  /// A multiple of rows_at_once.
  static std::size_t rows_of(const Block& block) {
    return (BlockFlow::first_register + block.outputs + block.stores + rows_at_once - 1) / rows_at_once *
           rows_at_once;
  }

 private:
  const Block& make(const trace::Block& block, const FrontEnd& front_end);
  void keep_flow(const BlockFlow& flow, Block& made);
  void find_lines(const LoweredBlock& lowered, Block& made);
  void find_accesses(const LoweredBlock& lowered, Block& made);

  CoreParameters parameters_;
  std::shared_ptr<const InstructionCosts> costs_;
  Dataflow dataflow_;
  // In parts by who needs them.
  std::vector<Block> blocks_;
  std::vector<FrontEnd::BlockCode> code_;
  std::vector<LoweredBlock> lowered_;
  std::vector<Line> lines_;
  std::vector<Access> accesses_;
  std::vector<i32> delays_;
  std::size_t previous_ = 0;  // block
};

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_BLOCK_BUILDER_H
#define PMUSIM_TRACE_BLOCK_BUILDER_H

#include <map>

#include "pmusim/trace/trace.h"
#include "trace/extended_log.h"
#include "trace/live_code.h"

namespace pmusim::trace {

/// The instructions that one thread has executed since its last branch.
class OpenBlock {
 public:
  bool empty() const { return instructions_.empty(); }
  std::size_t size() const { return instructions_.size(); }
  u64 start() const { return instructions_.front()->instruction.ip; }
  std::vector<std::byte> code() const;
  bool full() const { return instructions_.size() == max_block_instructions; }

  /// Notes where the instruction that executes next is going to access memory.
  void expect(const LiveInstruction& live, const Registers& before, u64 fs_base, u64 gs_base);
  /// It has retired, and left these registers.
  void retired(const LiveInstruction& live, u32 rep_count, const Registers& after);
  /// What there is of extended registers before the block's first instruction, and what the last one to
  /// retire made of them.
  void begin_extended(const ExtendedState& before) { extended_.begin(before); }
  void change_extended(const ExtendedState& before, const ExtendedState& after) {
    extended_.add(static_cast<u32>(instructions_.size() - 1), before, after);
  }
  /// It did not.
  void not_retired() { addresses_.resize(retired_addresses_); }

  std::span<const LiveInstruction* const> instructions() const { return instructions_; }
  /// One execution of `block`, which has these instructions. Valid until the next change.
  BlockRun as_run(const Block& block, u64 next_ip, const Contents& contents);
  void clear();

 private:
  std::vector<const LiveInstruction*> instructions_;
  std::vector<u64> addresses_;
  std::size_t retired_addresses_ = 0;
  std::vector<u32> rep_counts_;
  std::vector<Registers> registers_;
  ExtendedLog extended_;
};

/// Gives equal straight lines of code one block of the trace.
class BlockWriter {
 public:
  BlockWriter(Writer& writer, Contents contents) : writer_(writer), contents_(contents) {}

  /// Writes what `open` holds and empties it; the thread goes on at `next_ip`. Nothing to do if it is empty.
  Result<Done, Error> write(OpenBlock& open, u64 next_ip);

 private:
  const Block& block_of(const OpenBlock& open);

  Writer& writer_;
  Contents contents_;
  std::map<std::vector<u32>, const Block*> blocks_;  // by the ids of their instructions
  std::vector<u32> key_;
};

}  // namespace pmusim::trace

#endif

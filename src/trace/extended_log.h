// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_EXTENDED_LOG_H
#define PMUSIM_TRACE_EXTENDED_LOG_H

#include <vector>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// What the instructions of a block that is being recorded did to the extended registers.
class ExtendedLog {
 public:
  /// The block begins with these.
  void begin(const ExtendedState& before) { before_ = before; }
  /// Instruction `n` of the block left `after` where there was `before`: whole registers that differ.
  void add(u32 n, const ExtendedState& before, const ExtendedState& after);
  /// Completes the run of the block; what it refers to stays until clear().
  void describe(BlockRun& run);
  void clear();

 private:
  struct Part {
    u32 instruction = 0;
    u64 in_use = 0;
    std::size_t first_write = 0, writes = 0;
  };
  void add_component(StateComponent c, const ExtendedState& before, const ExtendedState& after);

  ExtendedState before_;
  std::vector<u64> qwords_;
  std::vector<ExtendedWrite> writes_;
  std::vector<Part> parts_;
  std::vector<InstructionChange> changes_;
};

}  // namespace pmusim::trace

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TRACE_BEGINNING_H
#define PMUSIM_TRACE_BEGINNING_H

#include <optional>

#include "pmusim/trace/trace.h"

namespace pmusim::trace {

/// What a reader that begins in the middle of a trace tells of what lies before: which processes, threads and
/// mappings came and went, in order, and which thread runs at the beginning. System calls and signals are
/// over, and so are the turns of threads.
class Beginning {
 public:
  /// The block that holds `instruction` is the first to be read.
  explicit Beginning(u64 instruction) : instruction_(instruction) {}

  u64 instruction() const { return instruction_; }
  /// Whether a block of so many instructions, the next one, lies before it.
  bool is_behind(u64 instructions) const { return passed_ + instructions <= instruction_; }
  void pass(u64 instructions) { passed_ += instructions; }
  /// Instructions that lie before it, up to now.
  u64 passed() const { return passed_; }

  /// Whether a side-band record before the beginning is to be delivered.
  bool tells(const SideBandRecord& record);
  /// The switch that has to come before such a side-band record: mappings are made by a thread, and the last
  /// one that was delivered has ended.
  std::optional<ThreadSwitch> switch_before(const SideBandRecord& record);
  /// The switch that has to come at the beginning.
  std::optional<ThreadSwitch> switch_at_beginning();

 private:
  u64 instruction_;
  u64 passed_ = 0;
  ThreadSwitch running_, emitted_;  // thread 0: none
};

}  // namespace pmusim::trace

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_COLLECTOR_H
#define PMUSIM_SRC_WHY_COLLECTOR_H

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/interval_core.h"
#include "pmusim/cpu/setup.h"
#include "pmusim/trace/trace.h"
#include "session/topdown_tree.h"
#include "symbols/address_space.h"
#include "why/control_flow.h"
#include "why/counts.h"
#include "why/event_counts.h"

namespace pmusim::why {

/// How the addresses of an instruction's first access follow each other.
struct Stride {
  u64 accesses = 0;  ///< that have one before them
  i64 bytes = 0;     ///< the most frequent distance, if any is more frequent than all others
  u64 same = 0;      ///< accesses at that distance, or somewhat more
};

/// Finds the distance by majority vote, in one pass and without memory of the others.
class StrideVote {
 public:
  void add(u64 address) {
    const i64 distance = static_cast<i64>(address - last_);
    last_ = address;
    if (!std::exchange(started_, true)) return;
    ++stride_.accesses;
    if (distance == stride_.bytes) {
      ++votes_;
      ++stride_.same;
    } else if (votes_ == 0) {
      stride_.bytes = distance;
      votes_ = stride_.same = 1;
    } else {
      --votes_;
    }
  }
  const Stride& result() const { return stride_; }

 private:
  Stride stride_;
  u64 last_ = 0, votes_ = 0;
  bool started_ = false;
};

/// Of an instruction that is executed again and again in a block that goes round: its result comes back to
/// it.
struct Chain {
  bool loops = false;
  u32 instructions = 0;  ///< of the block that the result passes through
};

/// An instruction with what its executions summed up to.
struct CountedInstruction {
  symbols::AddressSpaces::Id space = 0;
  u64 ip = 0;
  std::vector<std::byte> code;
  Counts counts;
  Stride stride;
  Chain chain;
};

/// A block with what the events of a top-down tree counted in it.
struct CountedBlock {
  symbols::AddressSpaces::Id space = 0;
  u64 ip = 0;
  EventCounts events;
};

/// What a replay knows of the program's instructions.
struct Collection {
  symbols::AddressSpaces spaces;
  std::vector<CountedInstruction> instructions;  ///< by space, address and code; none twice
  std::vector<CountedBlock> blocks;              ///< if there is a tree
  std::vector<CountedLoop> loops;                ///< by space; `parent` is a number among these
  std::vector<StackCount> stacks;
  std::vector<Call> calls;
  Counts total;
  unsigned width = 1;  ///< slots in a cycle
  bool time_is_recorded = false, addresses = false;
  bool has_threads = false;  ///< a process has more than one
};

/// How far a replay has come, in instructions. False ends it.
using OnProgress = std::function<bool(u64 done)>;

/// Replays a trace on a model's core, cold or warm, without a PMU: nothing is sampled, everything is counted.
/// `jit_directory` is where JIT compilers leave perf-PID.map. `tree`: whose events are counted too; null:
/// none. Errors: parameters that make no machine; a damaged trace, with file and offset.
Result<Collection, Error> collect(trace::Source& source, const CpuModel& model,
                                  const std::string& jit_directory, const OnProgress& on_progress,
                                  StartState start = StartState::cold, const TopdownTree* tree = nullptr);

}  // namespace pmusim::why

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_HEAP_BLOCKS_H
#define PMUSIM_SRC_WHY_HEAP_BLOCKS_H

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "pmusim/trace/trace.h"

namespace pmusim::why {

/// How a function of the heap is called, by the System V ABI's registers.
enum class HeapCall : u8 {
  size,
  count_and_size,
  block_and_size,
  block_count_and_size,
  alignment_and_size,
  block
};
/// Of a function that gives or takes back blocks, by its linkage name; nothing for all others.
std::optional<HeapCall> heap_call(std::string_view function);

/// A block, and the return address of the call that asked for it.
struct HeapBlock {
  u64 start = 0, end = 0, site = 0;
  u32 object = 0;  ///< its owner's to set
};

/// What a stretch of code did to the heap.
struct HeapChange {
  HeapBlock* given = nullptr;  ///< valid until the next change
  bool released = false;
};

/// Which blocks of the heap live, from the calls that a trace with registers shows. Of calls within such a
/// call (operator new calls malloc) the outermost counts. What posix_memalign gives is not seen: it is in
/// memory.
class HeapBlocks {
 public:
  void take(const trace::SideBandRecord& record);
  /// A function of the process that runs, or of another.
  void add_function(u32 pid, u64 address, HeapCall call) {
    processes_[pid].functions.insert_or_assign(address, call);
  }
  /// The execution of a block of code.
  HeapChange run(const trace::BlockRun& run);
  /// The living block at an address of the process that runs.
  const HeapBlock* find(u64 address) const;

 private:
  struct Process {
    std::unordered_map<u64, HeapCall> functions;  // by address
    std::map<u64, HeapBlock> blocks;              // by start
  };
  struct Call {
    u64 stack_pointer = 0, bytes = 0, replaced = 0;
  };
  struct Thread {
    std::optional<Registers> registers;
    std::optional<Call> call;
  };
  static HeapChange enter(Process& process, Thread& thread, HeapCall call);
  static HeapChange leave(Process& process, const Call& call, u64 result, u64 site);

  std::map<u32, Process> processes_;
  std::unordered_map<u32, Thread> threads_;
  u32 pid_ = 0, tid_ = 0;
};

}  // namespace pmusim::why

#endif

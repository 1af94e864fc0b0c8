// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_WHY_CONTROL_FLOW_H
#define PMUSIM_SRC_WHY_CONTROL_FLOW_H

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "annotate/pair_table.h"
#include "pmusim/trace/trace.h"
#include "why/distribution.h"
#include "why/natural_loops.h"

namespace pmusim::why {

/// Cycles and instructions of the code at one place of the call tree.
struct StackCount {
  u64 call = 0, ip = 0;  ///< number in ControlFlow::calls(); first instruction of a block
  u64 cycles = 0, instructions = 0;
  std::pair<u64, u64> key() const { return {call, ip}; }
};

/// Of code that nobody called.
inline constexpr u64 no_caller = ~u64{0};

/// A call that was made, in the tree of calls.
struct Call {
  u64 caller = 0,
      site = 0;  ///< number of the call that made it, `no_caller` of a thread's first; instruction
  u32 space = 0;
  std::pair<u64, u64> key() const { return {caller, site}; }
};

/// Follows a trace's calls, returns and jumps, thread by thread: who called whom, which way blocks led to
/// blocks, and how often each loop went round.
///
/// A loop is noticed when a jump back first leads to a place where its function has been; executions before
/// that are entries of one round. Which of these places are headers of loops is asked when all is known
/// (`loops()`). What recursion hides of the first rounds is not counted.
class ControlFlow {
 public:
  ControlFlow();
  /// Code runs in this space from now on; numbers are dense.
  void enter(u32 space) { space_ = space; }
  void take(const trace::SideBandRecord& record);
  /// `cycle_before(n)` is the cycle in which the instruction before number `n` of the block retired;
  /// `cycles` is what the execution took.
  template <class CycleBefore>
  void run(const trace::BlockRun& run, u64 cycles, CycleBefore cycle_before) {
    BlockFlow& flow = flow_of(*run.block);
    ++blocks_run_;
    if (thread_->jumped.blocks_left != 0) look_for_header(flow);
    ++flow.executions;
    flow.last_run = blocks_run_;
    if (flow.last_frame != thread_->frames.back().serial) {
      flow.last_frame = thread_->frames.back().serial;
      flow.counted_in = count_in(thread_->frames.back().call, run.block->start());
    }
    StackCount& count = stacks_.values()[flow.counted_in];
    count.cycles += cycles;
    count.instructions += run.block->instructions.size();
    for (const Place& place : flow.headers) reach(place, cycle_before(place.instruction));
    leave(run, flow);
  }
  /// Ends what still runs.
  void finish();

  const std::vector<StackCount>& stacks() const { return stacks_.values(); }
  const std::vector<Call>& calls() const { return calls_.values(); }
  /// Natural loops of a space, with their trips; outer loops before those in them.
  std::vector<CountedLoop> loops(u32 space) const;

 private:
  /// Where a jump led back to.
  struct Header {
    u64 ip = 0;
    TripCounts counts;
  };
  struct Place {
    u32 header = 0, instruction = 0;
  };
  struct Edge {
    u64 target = 0, count = 0;
  };
  struct BlockFlow {
    const trace::Block* block = nullptr;
    std::vector<Place> headers;
    std::vector<Edge> edges;
    std::size_t last_edge = 0, counted_in = 0;
    u64 last_frame = 0, last_run = 0, executions = 0;
  };
  /// Where jumps back to a place lead to.
  struct Target {
    std::optional<u32> header;
    u32 tries = 0;
  };
  struct Space {
    std::vector<BlockFlow> blocks;  // by number
    std::vector<Header> headers;
    std::map<u64, u32> header_at;
    std::unordered_map<u64, Target> targets;  // of jumps back
    std::multimap<u64, u32> by_start;         // blocks
    std::vector<u64> handlers;                // of signals
  };
  class Graph;
  /// A loop that was entered and not left. Times are in blocks that ran.
  struct Active {
    u32 space = 0, header = 0;
    u64 entered = 0, round_began = 0;
    u64 trips = 0, cycle = 0;
    bool timed = false;
  };
  struct FrameOfCall {
    u64 returns_to = 0, serial = 0, call = 0;
    std::size_t loops = 0;  ///< of `active`, those of the frames below
  };
  /// A jump back to where this call has not been: whether it is a loop's, the next blocks show.
  struct JumpedBack {
    u32 blocks_left = 0, space = 0;
    u64 frame = 0, to = 0;
  };
  struct Thread {
    JumpedBack jumped;
    std::vector<FrameOfCall> frames;
    std::vector<Active> active;
    u64 last_ip = 0;  // the last instruction that ran
  };

  BlockFlow& flow_of(const trace::Block& block);
  std::size_t count_in(u64 call, u64 ip);
  void reach(const Place& place, u64 cycle);
  void leave(const trace::BlockRun& run, BlockFlow& flow);
  static void count_edge(BlockFlow& flow, u64 target);
  void jump_back(u64 to);
  void look_for_header(const BlockFlow& flow);
  struct Visited {
    u64 ip = 0, last_run = 0;
  };
  std::optional<Visited> first_visited(const BlockFlow& flow) const;
  bool is_of_this_round(u64 last_run) const;
  u32 add_header(u64 ip);
  void call(u64 site, u64 returns_to);
  void come_back(u64 to);
  void come_back_from_signal();
  void drop_frames(std::size_t kept);
  void drop_loops(std::size_t kept);
  void count_trips(const Active& active);
  void begin_thread(u32 tid);
  Header& header_of(const Active& active) { return spaces_[active.space].headers[active.header]; }

  std::vector<Space> spaces_;
  u32 space_ = 0;
  std::unordered_map<u32, Thread> threads_;
  Thread* thread_ = nullptr;
  u64 frames_entered_ = 0, blocks_run_ = 0;
  annotate::PairTable<StackCount> stacks_;
  annotate::PairTable<Call> calls_;
};

}  // namespace pmusim::why

#endif

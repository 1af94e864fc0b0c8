// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_MEMORY_CORE_H
#define PMUSIM_SRC_CORE_MEMORY_CORE_H

#include <array>
#include <concepts>
#include <memory>
#include <vector>

#include "core/block_core.h"
#include "core/block_flow.h"
#include "core/front_end.h"
#include "core/load_store_unit.h"
#include "cpu/clocks.h"

namespace pmusim {

/// Level `memory`: caches, TLBs, prefetchers, predictors and the uop cache of the whole model, and time by
/// blocks. What a block makes of the times before it was summed up once (BlockFlow); only a block with an
/// access or a line of code that is not in L1 goes instruction by instruction. The reorder buffer, fill
/// buffers and the store buffer limit what overlaps; ports limit the throughput of a block, and nothing else.
///
/// It has the words of IntervalCore.
class MemoryCore {
 public:
  /// For a trace that knows so much. Errors as Core::create.
  static Result<MemoryCore, Error> create(const CpuModel& model, const trace::Contents& contents);

  /// The next execution in program order; time goes on to its end. The block run must stay until the next.
  BlockExecution execute(const trace::BlockRun& run);
  /// Calls `sink(const Retirement&)` for each instruction of the last execution, as often as one likes.
  /// `Retirement::memory` is empty.
  template <std::invocable<const Retirement&> Sink>
  void retire(const BlockExecution& execution, Sink&& sink) const {
    Cursor cursor = first();
    for (u32 left = execution.instructions; left != 0; --left) sink(next(cursor));
  }

  /// As those of IntervalCore.
  u64 cycle() const { return cycle_; }
  std::span<const u32> unusual() const { return unusual_; }
  SignalSet differing_signals(u32 instruction) const;
  SignalSet usual_signals(const BlockExecution& execution, u32 instruction) const;
  SignalSet actual_signals(u32 instruction) const;
  Quantities sum(const QuantitySet& wanted) const;
  void warm_from(const MemoryCore& before);
  void join(MachineCaches& machine, u32 package) { memory_.hierarchy().join(machine, package); }
  void interrupt();
  u64 enter_handler() {
    interrupt();
    return cycle();
  }
  void obey_prediction_barriers(u64 asked_for) { barriers_.obey(asked_for, branches_); }
  u32 most_in_cycle() const { return 2 * parameters_.issue_width; }
  u32 first_of_last_cycle(const BlockExecution& execution) const;

 private:
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
    u32 first_line = 0, first_access = 0, first_delay = 0;  // where in `lines_`, `accesses_` and `delays_`
    u32 slots = 0, port_slots = 0, followed_by = 0;
    u16 instructions = 0;  // 0: not lowered yet
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
  /// What an instruction asked of the memory hierarchy.
  struct Requests {
    u32 instruction = 0;
    Quantities quantities{};
  };
  struct Branch {
    bool taken = false;
    Prediction prediction = Prediction::right;
  };
  /// The youngest store to eight bytes.
  struct Stored {
    u64 place = ~u64{0};
    Slots ready = 0;  ///< its data
  };
  /// One of the block at hand, whose data are known when the block is summed up.
  struct Pending {
    u16 stored = 0;  ///< which of `stored_`
    u8 store = 0;
  };
  struct Cursor {
    u32 instruction = 0;
    std::size_t change = 0, request = 0;
    u64 cycle = 0;
    Dataflow::State state;
    Retirement retirement{};
  };
  MemoryCore(const CoreParameters& core, BranchUnit branches, const trace::Contents& contents);
  const Block& lower(const trace::Block& block);
  FrontEnd::BlockCode code_of(const LoweredBlock& lowered) const;
  void keep_flow(const BlockFlow& flow, Block& made);
  void find_lines(const LoweredBlock& lowered, Block& made);
  void find_accesses(const LoweredBlock& lowered, Block& made);
  static void find_stack_use(const LoweredBlock& lowered, Block& made);
  void fetch_what_follows(const Block& block);
  std::span<const LoweredInstruction> lowered() const { return lowered_[run_->block->id].instructions; }
  std::span<const Line> lines_of(const Block& block) const {
    return std::span(lines_).subspan(block.first_line, block.lines);
  }

  void begin(const trace::BlockRun& run, const Block& block);
  std::size_t enter_lines(const Block& block);
  void fetch_line(u64 address);
  void fetch(const LoweredInstruction& instruction);
  Slots dispatch(const Block& block);
  Slots sync_stack(const Block& block);
  std::size_t access_all(const Block& block);
  bool access_there(const Access& access, u64 cycle);
  Stored& stored_at(u64 address) { return stored_[address / place_bytes % stored_places]; }
  Slots forwarded(u64 address);
  void keep_stores(const Block& block);
  u64& next_store_entry();
  void apply(const Block& block);
  void delay(const i32* column, i32 ready, std::size_t rows);
  void pass_from(std::size_t accesses, u32 entered);
  void pass(const x86::Instruction& instruction, const LoweredInstruction& lowered, u32 number);
  bool is_over(AccessKind kind);
  Slots load(const DataAccesses& data, Slots start);
  void store(const DataAccesses& data);
  void clear_pipeline(u32 behind);
  void note(u32 instruction);
  void note_requests(u32 instruction);
  void retire_block(const Block& block);
  void branch(const Block& block);
  Branch resolve(const BranchSite& site, u64 target, u64 next_ip, bool changes_ring);
  void redirect(Prediction prediction);

  u64 cycle_of(Slots slot) const;
  Slots begin_of(u64 cycle) const { return static_cast<Slots>(cycle * parameters_.issue_width); }
  /// When the last of the eight uops has retired among which is uop number `uop`.
  Slots retired_mark(u64 uop) const { return retired_uops_[uop / 8 & (retired_uops_.size() - 1)]; }
  SignalSet raised(u32 instruction) const;
  SignalSet with_code(u32 instruction, SignalSet signals) const;
  const Branch& branch_of(u32 instruction) const;
  void account_time(u64 since, u64 until, Quantities& quantities) const;
  Cursor first() const;
  u64 retired_at(Cursor& cursor) const;
  const Retirement& next(Cursor& cursor) const;

  CoreParameters parameters_;
  Clock tsc_;
  std::shared_ptr<const InstructionCosts> costs_;
  Dataflow dataflow_;
  u64 inverse_width_;  // 2^64 / width, rounded down
  BranchUnit branches_;
  PredictionBarriers barriers_;
  LoadStoreUnit memory_;
  FrontEnd front_end_;
  std::array<SignalSet, 4> hits_;  // what accesses that hit raise, by LoweredInstruction::accesses
  // Blocks by number, in parts by who needs them.
  std::vector<Block> blocks_;
  std::vector<FrontEnd::BlockCode> code_;
  std::vector<LoweredBlock> lowered_;
  std::vector<Line> lines_;
  std::vector<Access> accesses_;
  static constexpr std::size_t rows_at_once = 4;
  std::vector<i32> delays_;   // columns of BlockFlow, filled up to a multiple of so many rows
  std::size_t previous_ = 0;  // block

  Dataflow::State state_;
  u64 cycle_ = 0;
  Slots port_free_ = 0;  // the busiest port of each block, as if it were one
  int stack_moved_bytes_ = 0;
  static constexpr u64 nowhere = ~u64{0};
  u64 fetched_line_ = nowhere;
  /// Of every eight uops: when the last of them has retired.
  std::vector<Slots> retired_uops_;
  u64 uops_ = 0;
  std::vector<u64> store_buffer_;  // a ring: when each store has left it
  std::size_t next_store_ = 0;
  u64 last_commit_ = 0;
  static constexpr u64 place_bytes = 8;
  static constexpr Slots not_known = Slots{1} << 62;
  static constexpr std::size_t stored_places = 512;
  std::array<Stored, stored_places> stored_{};  // by the lowest bits of their places
  std::vector<Pending> pending_;

  // the execution at hand
  const trace::BlockRun* run_ = nullptr;
  const Block* block_ = nullptr;
  u64 since_ = 0;
  Slots begun_ = 0, retired_before_ = 0;
  std::array<i32, Block::most_registers> inputs_{};  // when what it reads is ready, behind `begun_`
  alignas(16) std::array<i32, Block::most_registers + Block::most_stores + 2 * rows_at_once> results_{};
  bool one_by_one_ = false;
  static constexpr u32 nobody = ~u32{0};
  // and where its instructions go one by one
  std::vector<Slots> retired_;
  AccessReader recorded_accesses_;
  std::size_t accesses_over_ = 0;  // that have been made already
  u32 entered_ = 0;                // the instruction before which all code has been entered
  u32 lines_hit_ = 0;              // of code; the first instruction says so
  Execution execution_;
  std::vector<u32> unusual_;
  std::vector<SignalSet> unusual_signals_;
  std::vector<Requests> requests_;
  std::vector<Branch> within_;  // where it branches before its end
  Branch last_;
};

}  // namespace pmusim

#endif

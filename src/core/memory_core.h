// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_MEMORY_CORE_H
#define PMUSIM_SRC_CORE_MEMORY_CORE_H

#include <array>
#include <concepts>
#include <vector>

#include "core/block_core.h"
#include "core/front_end.h"
#include "core/load_store_unit.h"
#include "core/memory_blocks.h"
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
  void join(MachineCaches& machine, const CorePlace& place) { memory_.hierarchy().join(machine, place); }
  void interrupt();
  u64 enter_handler() {
    interrupt();
    return cycle();
  }
  void obey_prediction_barriers(u64 asked_for) { barriers_.obey(asked_for, branches_); }
  u32 most_in_cycle() const { return 2 * parameters_.issue_width; }
  u32 first_of_last_cycle(const BlockExecution& execution) const;

 private:
  using Block = MemoryBlocks::Block;

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
  std::span<const LoweredInstruction> lowered() const { return blocks_.lowered(*run_->block).instructions; }

  void begin(const trace::BlockRun& run, const Block& block);
  std::size_t enter_lines(const Block& block);
  void fetch_line(u64 address);
  void fetch(const LoweredInstruction& instruction);
  Slots dispatch(const Block& block);
  Slots sync_stack(const Block& block);
  std::size_t access_all(const Block& block);
  bool access_there(const MemoryBlocks::Access& access, u64 cycle);
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
  Dataflow dataflow_;
  u64 inverse_width_;  // 2^64 / width, rounded down
  BranchUnit branches_;
  PredictionBarriers barriers_;
  LoadStoreUnit memory_;
  FrontEnd front_end_;
  std::array<SignalSet, 4> hits_;  // what accesses that hit raise, by LoweredInstruction::accesses
  MemoryBlocks blocks_;

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
  alignas(16)
      std::array<i32, Block::most_registers + Block::most_stores + 2 * MemoryBlocks::rows_at_once> results_{};
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

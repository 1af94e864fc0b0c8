// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_BLOCK_CORE_H
#define PMUSIM_SRC_CORE_BLOCK_CORE_H

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "core/block_schedule.h"
#include "core/branch_outcome.h"
#include "core/branch_unit.h"
#include "cpu/clocks.h"
#include "pmusim/cpu/retirement.h"

namespace pmusim {

inline bool is_user(const trace::BlockRun& run) {
  return (run.block->ring == Cpl::user) & (run.next_ring == Cpl::user);
}

/// One execution of a block by a BlockCore.
struct BlockExecution {
  const trace::BlockRun* run = nullptr;
  u64 since = 0;  ///< cycle of the retirement before it
  /// Dense: the block and how its last branch went. Executions of a kind have the same signals, and the same
  /// cycles between their instructions.
  u32 kind = 0;
  u32 instructions = 0;
  u32 cycles = 0;  ///< from `since` to its last retirement, front-end delays before it included
  BranchKind branch = BranchKind::none;
  u8 branch_length = 0;
  u8 fused_length = 0;  ///< as Retirement has it, of the branch
  bool taken = false;
  Prediction prediction = Prediction::right;
  /// A branch within the block is taken, to what follows it: blocks that recorders make have none. Or there
  /// is a transaction in it. Only the instructions one by one tell of that.
  bool jumps_within = false;
  bool in_user = true;  ///< from its first instruction to what follows it
  u64 branch_ip = 0;

  u64 end() const { return since + cycles; }
};

/// A core for which a block takes the same time whenever it runs, but for the front end's delay before it. So
/// it is looked at once, and an execution is known before its instructions are made. Only a block's last
/// instruction is a branch that can be mispredicted.
///
///     auto core = BlockCore::flat(*find_cpu_model("skylake"));
///     const BlockExecution execution = core->execute(block_run);
///     core->retire(execution, [&](const Retirement& r) { pmu.retire(r); });
///
class BlockCore {
 public:
  /// A core of level `simple` or `flat`. Errors as Core::create.
  static Result<BlockCore, Error> simple(const CpuModel& model);
  static Result<BlockCore, Error> flat(const CpuModel& model);

  /// The next execution in program order; time goes on to its end.
  BlockExecution execute(const trace::BlockRun& run);
  /// Calls `sink(const Retirement&)` for each instruction, as often as one likes. `Retirement::registers` and
  /// `extended` are the block run's; `memory` is empty.
  template <std::invocable<const Retirement&> Sink>
  void retire(const BlockExecution& execution, Sink&& sink) const {
    Cursor cursor{.cycle = execution.since};
    for (u32 left = execution.instructions; left != 0; --left) sink(next(execution, cursor));
  }

  /// Of a core that has run nothing yet: its predictors hold what they do there.
  void warm_from(const BlockCore& before) { branches_ = before.branches_; }
  /// A signal enters its handler: the front end begins anew.
  void interrupt();
  /// The same of an interrupt or exception, which takes a cycle: that one.
  u64 enter_handler() {
    interrupt();
    return ++cycle_;
  }
  /// As Core::obey_prediction_barriers.
  void obey_prediction_barriers(u64 asked_for);

  /// Cycle of the last retirement; 0 before the first.
  u64 cycle() const { return cycle_; }

 private:
  using Scheduler = BlockSchedule (*)(const trace::Block&, const CoreParameters&);
  /// What an execution needs to know of its block. Programs are larger than caches: it is half a line.
  struct alignas(32) Lowered {
    u64 branch_ip = 0;
    u32 cycles = 0;
    u32 schedule = 0;      // where in `schedules_`
    i32 distance = 0;      // of a conditional branch: from its end to its target
    u16 instructions = 0;  // 0: not lowered yet
    BranchKind branch = BranchKind::none;
    u8 branch_length = 0;
    bool always_taken = false;
    bool jumps_within = false;
    bool may_leave_user = false;  // or has never been there

    u64 end() const { return branch_ip + branch_length; }
    // As pmusim::is_taken(), without a branch: it would be mispredicted as often as the program's own.
    bool is_taken(u64 next_ip) const {
      const u64 taken_distance = static_cast<u64>(i64{distance});
      return always_taken | ((next_ip - end() == taken_distance) & (taken_distance != 0));
    }
  };
  static_assert(sizeof(Lowered) == 32 && trace::max_block_instructions <= 0xFFFF);
  struct Cursor {
    std::size_t instruction = 0, change = 0;
    u64 cycle = 0;
    Retirement retirement{};
  };
  BlockCore(const CoreParameters& parameters, Scheduler scheduler, std::optional<BranchUnit> branches);
  const Lowered& lower(const trace::Block& block);
  Prediction predict(const Lowered& block, bool taken, u64 next_ip);
  unsigned delay_after(Prediction prediction) const;
  const Retirement& next(const BlockExecution& execution, Cursor& cursor) const;

  CoreParameters parameters_;
  Clock tsc_;
  Scheduler scheduler_;
  unsigned outcomes_;  // of a block's last branch
  std::optional<BranchUnit> branches_;
  std::optional<PredictionBarriers> barriers_;  // with `branches_`
  std::vector<Lowered> blocks_;                 // by number
  std::vector<u32> schedules_;
  u64 cycle_ = 0;
  u32 delay_cycles_ = 0;  // before the next block
};

// Here because every block comes this way.
inline BlockExecution BlockCore::execute(const trace::BlockRun& run) {
  const u32 id = run.block->id;
  const bool known = id < blocks_.size() && blocks_[id].instructions != 0;
  const Lowered& block = known ? blocks_[id] : lower(*run.block);
  BlockExecution execution{.run = &run,
                           .since = cycle_,
                           .kind = id * outcomes_,
                           .instructions = block.instructions,
                           .cycles = block.cycles,
                           .branch = block.branch,
                           .branch_length = block.branch_length,
                           .taken = block.is_taken(run.next_ip),
                           .jumps_within = block.jumps_within,
                           .branch_ip = block.branch_ip};
  if (block.may_leave_user) [[unlikely]] {
    execution.in_user = is_user(run);
    execution.taken |= is_seen_transfer(block.branch, run.block->ring, run.next_ring);
  }
  execution.kind += execution.taken;
  if (branches_) {
    execution.cycles += std::exchange(delay_cycles_, 0);
    execution.prediction = predict(block, execution.taken, run.next_ip);
    execution.kind += 2 * static_cast<u32>(execution.prediction);
  }
  cycle_ = execution.end();
  return execution;
}

}  // namespace pmusim

#endif

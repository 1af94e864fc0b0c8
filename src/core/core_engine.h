// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_CORE_ENGINE_H
#define PMUSIM_CORE_CORE_ENGINE_H

#include <array>
#include <memory>
#include <optional>

#include "core/branch_unit.h"
#include "core/execution_ports.h"
#include "core/front_end.h"
#include "core/load_store_unit.h"
#include "core/lowered_block.h"
#include "core/move_slots.h"
#include "core/ordered_block.h"
#include "core/pipeline.h"
#include "core/recorded_time.h"
#include "core/transactions.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/trace/trace.h"

namespace pmusim {

/// What a Core is made of, and the order in which an instruction passes through it.
///
/// Instructions pass one by one, and what became of each is written down. Retirements are made of that when
/// they are asked for: at once, after the block, more than once, or never.
class CoreEngine {
 public:
  /// What became of an instruction.
  struct Passed {
    Pipeline::Passage passage;
    u64 cycle = 0;      ///< in which it retires
    SignalSet signals;  ///< that neither its code nor its branch says
    FrontEnd::Delivery delivery;
    u32 accesses = 0;  ///< of the block, its own included
    u8 sync_uops = 0;  ///< before it, for RSP
    bool taken = false;
    Prediction prediction = Prediction::right;
  };
  /// A place in the execution of a block.
  struct Cursor {
    std::size_t instruction = 0, change = 0, request = 0, transacted = 0;
    Retirement retirement;            ///< of the instruction before it
    std::optional<Retirement> abort;  ///< the one behind that, if there is one
  };

  /// Errors as Core::create.
  static Result<CoreEngine, Error> create(const CpuModel& model);

  /// How blocks are lowered for this core; valid as long as it or a copy of it is.
  Lowering lowering() const { return {parameters_, *costs_}; }

  /// Begins an execution of a block, which must stay until the next begin().
  void begin(const trace::BlockRun& block_run, const LoweredBlock& lowered) {
    begin_lowered(block_run, &lowered);
  }
  /// The same of a block that nobody has lowered.
  void begin(const trace::BlockRun& block_run) {
    lowering().lower(*block_run.block, lowered_here_);
    begin_lowered(block_run, nullptr);
  }
  /// The next instruction passes.
  void pass();
  /// All that are left.
  void pass_all();
  /// The same by the order of the program alone: caches, TLBs, predictors and the uop cache see the block,
  /// which takes until `cycle`. Of what has passed, only the last instruction and those that are unusual are
  /// written down. Then resume() before any passes otherwise.
  void pass_in_order(const OrderedBlock& ordered, u64 cycle);
  /// Writes down all instructions of a block that passed so, without accesses and lost time: it took each as
  /// long.
  void write_down_in_order();
  /// The whole model goes on behind what has passed in order.
  void resume();
  /// The retirement of the next instruction that has passed. What it refers to is valid until the next
  /// pass().
  const Retirement& retire(Cursor& cursor) const;

  /// The abort of a transaction behind the instruction before the cursor; null where there is none.
  const Retirement* abort_behind(Cursor& cursor) const;
  const Retirement* take_abort() { return abort_behind(cursor_); }
  /// Whether an instruction of this execution that has passed began a transaction, or was in one.
  bool transacted() const { return !transacted_.empty(); }

  /// Both at once.
  const Retirement& step() {
    pass();
    return retire(cursor_);
  }

  /// All that is true of an instruction that has passed.
  SignalSet signals_of(std::size_t instruction) const;
  /// Quantities of all instructions of this execution, which have passed outside of transactions and have no
  /// recorded time: those that are wanted, and perhaps others.
  Quantities sum(const QuantitySet& wanted) const {
    Quantities sums{};
    add_sum(wanted, sums);
    return sums;
  }
  /// The same on top of what is there, modulo 2^32.
  void add_sum(const QuantitySet& wanted, Quantities& sums) const;
  /// What accesses that hit raise, by LoweredInstruction::accesses: what else an instruction raises is
  /// unusual.
  void expect(const std::array<SignalSet, 4>& hits) { hits_ = hits; }
  const std::array<SignalSet, 4>& expected() const { return hits_; }
  /// Those that have passed and raised something else, by number.
  std::span<const u32> unusual() const { return unusual_; }
  /// Instructions of this execution that have passed.
  std::span<const Passed> passed() const { return {passed_.data(), count_}; }
  /// The slots lost before an instruction that has passed; of no meaning where time is recorded.
  void account_lost(const Passed& passed, Quantities& quantities) const {
    pipeline_.account_lost(passed.passage, quantities);
  }
  const trace::BlockRun& run() const { return *run_; }
  const LoweredBlock& lowered() const { return lowered_ != nullptr ? *lowered_ : lowered_here_; }

  /// What is true of a branch because of how it went.
  static SignalSet signals_of_branch(BranchKind kind, bool taken, Prediction prediction);

  /// Of a core that has run nothing yet: caches, TLBs and predictors hold what they do there.
  void warm_from(const CoreEngine& before);
  /// One of a machine's cores, as MemoryHierarchy::join().
  void join(MachineCaches& machine, const CorePlace& place) { memory_.hierarchy().join(machine, place); }
  void interrupt();
  void obey_prediction_barriers(u64 asked_for) { barriers_.obey(asked_for, branches_); }

  u64 cycle() const { return time_is_recorded_ ? recorded_time_.cycle() : pipeline_.retired_cycle(); }
  unsigned open_slots() const { return time_is_recorded_ ? 0 : pipeline_.open_slots(); }

 private:
  /// A cycle in which something is there, and what it was waited for, in one word.
  class Ready {
   public:
    Ready() = default;
    Ready(u64 cycle, WaitingFor reason) : bits_(cycle << reason_bits | static_cast<u64>(reason)) {}
    u64 cycle() const { return bits_ >> reason_bits; }
    WaitingFor reason() const { return static_cast<WaitingFor>(bits_ & low_bits(reason_bits)); }
    /// The later one; of two in a cycle, this.
    Ready later(Ready other) const { return other.bits_ > (bits_ | low_bits(reason_bits)) ? other : *this; }

   private:
    static constexpr unsigned reason_bits = 3;
    u64 bits_ = 0;
  };
  /// What one instruction asked of the memory hierarchy.
  struct Requests {
    std::size_t instruction = 0;
    Quantities quantities{};
  };
  /// What one instruction was to a transaction.
  struct Transacted {
    std::size_t instruction = 0;
    Transactions::Passed passed;
  };
  CoreEngine(const CpuModel& model, const CoreParameters& parameters, BranchUnit branches);
  template <IssueOrder order>
  void pass(const x86::Instruction& instruction, const LoweredInstruction& lowered);
  template <IssueOrder order>
  void pass_all();
  void begin_lowered(const trace::BlockRun& block_run, const LoweredBlock* lowered);
  void fetch(const LoweredInstruction& instruction);
  void fetch_in_order(const LoweredInstruction& instruction);
  void step_in_order(std::size_t number);
  void flush_line(const x86::Instruction& instruction, const Registers* registers);
  void fetch_line(u64 address);
  u64 find_line(u64 address, u64 now);
  template <std::size_t size>
  Ready ready(const std::array<u8, size>& registers, u64 cycle) const;
  Ready ready(x86::RegisterMask registers, u64 cycle) const;
  Pipeline::Dispatched dispatch(const LoweredInstruction& instruction, Passed& passed);
  void deliver(const LoweredInstruction& instruction, FrontEnd::Delivery& delivery);
  void transact(const x86::Instruction& instruction, std::size_t number);
  bool is_slow(const LoweredInstruction& load) const;
  u64 free_bank(u64 address, u64 cycle);
  unsigned sync_stack(const LoweredInstruction& lowered);
  Ready late_ready(const LoweredInstruction& lowered, u64 cycle) const;
  u64 place(const LoweredInstruction& lowered, u64 ready);
  u64 place_all(const InstructionCost& cost, u64 ready);
  template <IssueOrder order>
  Ready execute(const x86::Instruction& instruction, const LoweredInstruction& lowered, u64 dispatched);
  Ready move(const LoweredInstruction& lowered, Ready source, u64 dispatched);
  void name_anew(const LoweredInstruction& lowered, const x86::Instruction& instruction, u64 dispatched);
  void forget_names(x86::RegisterMask named, u64 dispatched);
  void write(const LoweredInstruction& lowered, const x86::Instruction& instruction, Ready result);
  void transfer_control(const LoweredInstruction& branch, Passed& passed);
  void redirect_fetch(Prediction prediction, u64 resolved);
  void clear_pipeline();
  void finish_rare(const x86::Instruction& instruction, const Registers* registers);
  u64 cycle_before(std::size_t instruction) const;
  void account(const Passed& passed, const QuantitySet& wanted, Quantities& quantities) const;
  /// Uops that no instruction of the code has.
  static void add_uops(unsigned uops, Quantities& quantities);

  CoreParameters parameters_;
  IssueOrder issue_order_;
  bool tracks_loads_;
  /// In order: the stage that computes addresses stands before the cache, and the one that computes results
  /// behind it. So a loaded value is there for the next instruction, and a result late for an address.
  unsigned address_delay_;
  std::shared_ptr<const InstructionCosts> costs_;  // the same for all copies
  BranchUnit branches_;
  PredictionBarriers barriers_;
  LoadStoreUnit memory_;
  Pipeline pipeline_;
  FrontEnd front_end_;
  ExecutionPorts ports_;
  MoveSlots general_moves_, vector_moves_;
  PortMask general_move_ports_, vector_move_ports_;
  RecordedTime recorded_time_;
  Transactions transactions_;
  bool time_is_recorded_ = false;                                 // in this trace
  std::array<Ready, LoweredInstruction::registers> registers_{};  // by bit of x86::RegisterMask
  /// The first load of a cycle, where L1D has banks.
  struct BankRead {
    u64 cycle = 0, line = 0, bank = 0;
  };
  std::array<BankRead, 256> bank_reads_{};
  u64 last_start_ = 0;                                           // where instructions start in order
  std::array<bool, LoweredInstruction::registers> is_loaded_{};  // whether a load has left its value
  int stack_moved_bytes_ = 0;  // of pushes and pops that RSP itself does not have yet
  unsigned sync_uops_ = 0;     // of the block
  static constexpr u64 nowhere = ~u64{0};
  u64 fetched_line_ = nowhere;

  // the block at hand
  const trace::BlockRun* run_ = nullptr;
  const LoweredBlock* lowered_ = nullptr;  // null: `lowered_here_`, in whatever copy
  LoweredBlock lowered_here_;
  u64 begin_cycle_ = 0;
  bool left_by_branch_ = false;     // its last instruction is a branch that is taken
  PortMask last_branch_ports_ = 0;  // if that is a conditional one
  AccessReader accesses_;
  Execution execution_;
  std::vector<Passed> passed_;
  std::size_t count_ = 0;
  std::vector<Requests> requests_;
  std::vector<Transacted> transacted_;
  std::array<SignalSet, 4> hits_;
  std::vector<u32> unusual_;
  Cursor cursor_;  // of step()
};

}  // namespace pmusim

#endif

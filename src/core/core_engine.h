// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_CORE_ENGINE_H
#define PMUSIM_CORE_CORE_ENGINE_H

#include <array>
#include <memory>

#include "core/branch_unit.h"
#include "core/execution_ports.h"
#include "core/load_store_unit.h"
#include "core/pipeline.h"
#include "core/recorded_time.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/trace/reader.h"

namespace pmusim {

/// What a Core is made of, and the order in which an instruction passes through it.
class CoreEngine {
 public:
  /// Errors as Core::create.
  static Result<CoreEngine, Error> create(const CpuModel& model);

  /// Begins an execution of a block, which must stay until its last step().
  void begin(const trace::BlockRun& block_run) {
    cursor_ = {&block_run};
    if (block_run.cycles) recorded_time_.begin(block_run);
    time_is_recorded_ = block_run.cycles.has_value();
  }
  /// The next instruction of the block. What it refers to is valid until the next step.
  const Retirement& step();

  void interrupt();
  void obey_prediction_barriers(u64 asked_for) { barriers_.obey(asked_for, branches_); }

  u64 cycle() const { return time_is_recorded_ ? recorded_time_.cycle() : pipeline_.retired_cycle(); }
  unsigned open_slots() const { return time_is_recorded_ ? 0 : pipeline_.open_slots(); }

 private:
  struct Cursor {
    const trace::BlockRun* run = nullptr;
    std::size_t instruction = 0, address = 0, repetition = 0, change = 0;
  };
  struct Ready {
    u64 cycle = 0;
    WaitingFor reason = WaitingFor::execution;
  };
  /// What an instruction does with memory, and the registers that its addresses are made of.
  struct MemoryUse {
    bool loads = false, stores = false;
    x86::RegisterMask addresses = 0;
  };
  CoreEngine(const CoreParameters& parameters, BranchUnit branches);
  void fetch(const x86::Instruction& instruction);
  void flush_line(const x86::Instruction& instruction, const Registers* registers);
  void fetch_line(u64 address);
  const ExtendedChange* take_change();
  DataAccesses take_accesses(const x86::Instruction& instruction);
  static MemoryUse memory_use_of(const x86::Instruction& instruction);
  Ready ready(x86::RegisterMask registers, u64 cycle) const;
  /// Whether an instruction and the branch behind it are one uop.
  bool fuses(const x86::Instruction& first, const x86::Instruction& second) const;
  Pipeline::Dispatched dispatch(const x86::Instruction& instruction, const MemoryUse& use,
                                const InstructionCost& cost);
  unsigned uops_of(const x86::Instruction& instruction, const InstructionCost& cost) const;
  u64 place(const InstructionCost& cost, u64 ready);
  Ready execute(const DataAccesses& data, const MemoryUse& use, const InstructionCost& cost, u64 dispatched);
  Prediction transfer_control(const x86::Instruction& branch);
  void redirect_fetch(Prediction prediction, u64 resolved);
  void clear_pipeline();
  u64 retire(const Pipeline::Dispatched& dispatched, const Ready& result);

  unsigned mispredict_penalty_, resteer_cycles_, system_call_cycles_, machine_clear_cycles_;
  MacroFusion macro_fusion_;
  IssueOrder issue_order_;
  /// In order: the stage that computes addresses stands before the cache, and the one that computes results
  /// behind it. So a loaded value is there for the next instruction, and a result late for an address.
  unsigned address_delay_;
  std::shared_ptr<const InstructionCosts> costs_;  // the same for all copies
  BranchUnit branches_;
  PredictionBarriers barriers_;
  LoadStoreUnit memory_;
  Pipeline pipeline_;
  ExecutionPorts ports_;
  RecordedTime recorded_time_;
  bool time_is_recorded_ = false;      // in this trace
  std::array<Ready, 64> registers_{};  // by bit of x86::RegisterMask
  u64 last_start_ = 0;                 // where instructions start in order
  u64 fetched_line_ = ~u64{0};

  // the instruction at hand
  Cursor cursor_;
  bool fused_with_next_ = false;
  Execution execution_;
};

}  // namespace pmusim

#endif

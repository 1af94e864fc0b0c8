// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_BLOCK_FLOW_H
#define PMUSIM_SRC_CORE_BLOCK_FLOW_H

#include <array>
#include <vector>

#include "core/lowered_block.h"

namespace pmusim {

/// Time in slots: cycles times `issue_width`.
using Slots = i64;

/// When registers are ready, by their bit in x86::RegisterMask. Behind them the start of the last
/// instruction, for which the next one waits on cores that issue in order.
using ReadyRegisters = std::array<Slots, LoweredInstruction::registers + 1>;
constexpr u8 last_started = LoweredInstruction::registers;

/// How results depend on operands: an instruction starts when it is dispatched and its operands are ready,
/// and has its result a latency later. Ports, and stores that loads read, are not looked at.
///
/// All that is done to a time is adding constants and taking the later one (max-plus algebra). So what a
/// block makes of the times before it can be summed up: see BlockFlow.
class Dataflow {
 public:
  explicit Dataflow(const CoreParameters& p);

  struct State {
    ReadyRegisters registers{};
    Slots dispatched = 0;  ///< the slot in which the next instruction is
    Slots retired = 0;     ///< behind the last uop that has retired
    Slots result = 0;      ///< of the last instruction
  };
  /// When the address of an access is known, and so when a load starts.
  Slots addressed(const x86::Instruction& instruction, const LoweredInstruction& lowered,
                  const State& state) const;
  /// The next instruction; its data come so much later than from L1D.
  void step(const x86::Instruction& instruction, const LoweredInstruction& lowered, Slots late,
            State& state) const;
  /// The registers that it waits for.
  static x86::RegisterMask waits_for(const x86::Instruction& instruction, const LoweredInstruction& lowered);

  Slots width() const { return width_; }
  bool in_order() const { return in_order_; }
  /// Whether the address of a load has to be added up, where those are slow, is decided by its own block:
  /// what comes from before was loaded if the block loads it, as loops do.
  static void decide_slow_addresses(const trace::Block& block, LoweredBlock& lowered);

 private:
  Slots in_slots(unsigned cycles) const { return cycles * width_; }

  Slots width_;
  unsigned load_cycles_, slow_address_cycles_, system_call_cycles_, address_delay_;
  bool in_order_;
};

/// What a block makes of time when all its loads hit L1D, found once: for each of its results, how much later
/// it is than each of the times that it depends on.
struct BlockFlow {
  /// Rows before those of the registers that it writes.
  enum Row : u8 { retired, resolved, first_register };  // `resolved`: the result of its last instruction

  std::vector<u8> inputs;   ///< registers that are read
  std::vector<u8> outputs;  ///< registers that are written
  u32 stores = 0;  ///< instructions that store: behind the rows of `outputs`, when their data are there
  std::vector<i32> delays;  ///< in slots: a column of rows() for dispatch, and one for each input
  u32 slots = 0;
  u32 port_slots = 0;  ///< that its busiest port takes

  std::size_t rows() const { return first_register + outputs.size() + stores; }
};

BlockFlow summarize(const trace::Block& block, const LoweredBlock& lowered, const Dataflow& dataflow,
                    const InstructionCosts& costs);

}  // namespace pmusim

#endif

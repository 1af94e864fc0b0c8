// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_LOWERED_BLOCK_H
#define PMUSIM_SRC_CORE_LOWERED_BLOCK_H

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "pmusim/cpu/model.h"
#include "pmusim/trace/trace.h"

namespace pmusim {

/// By which decoders: by any that its uops fit, by the first one alone, and there with nothing behind it in
/// the cycle.
enum class Decoding : u8 { any, first, last_of_cycle };

/// A register copied as it is, of one kind or the other, which the renamer does if it has a slot for it.
enum class RenamedMove : u8 { none, general, vector };

/// What the timing model asks of an instruction whenever it runs, found once. One line of the cache: programs
/// are larger than that.
struct alignas(64) LoweredInstruction {
  /// Registers by their bit in x86::RegisterMask. Lists are filled up with one that is always there
  /// (`no_source`) and one that nobody reads (`no_result`).
  static constexpr u8 no_source = 64, no_result = 65;
  static constexpr unsigned registers = 66;
  /// What it accesses at one place.
  struct Operand {
    u16 bytes = 0;
    bool load = false, store = false;
  };

  u64 ip = 0;
  InstructionCost work;  ///< as it stands in its block: both of a fused pair apart, a locked one as such
  std::array<Operand, 2> memory{};
  u8 length = 0;
  u8 uops = 0;  ///< slots
  BranchKind branch = BranchKind::none;
  std::array<u8, 3> sources{};
  std::array<u8, 2> results{}, address_sources{};
  x86::StackUse stack : 2 = x86::StackUse::none;  ///< none, too, on cores without a rule for it
  u8 added_slots : 3 = 0;                         ///< at rename, where uops that came as one part
  u8 parts : 1 = 0;     ///< its operand and its operation are two uops from rename on
  u8 may_pair : 1 = 0;  ///< could have fused with the next one, and has not
  u8 uncached : 1 = 0;  ///< in a window of code with a jump at its border
  u8 opcode_offset : 4 = 0;
  u8 may_be_slow : 1 = 0;  ///< a load that is slow unless its address is a register that has been loaded
  u8 always_slow : 1 = 0;  ///< or anyway
  u8 merges : 1 = 0;       ///< behind a uop of its own that brings a register's parts together
  Decoding decoding : 2 = Decoding::any;
  RenamedMove move : 2 = RenamedMove::none;  ///< none, too, where slots are without limit
  u8 accesses = 0;                           ///< bit 0: loads, bit 1: stores
  u8 operands = 0;                           ///< in memory
  bool masked = false;     ///< more registers than the lists take: the masks of the instruction say which
  bool one_uop = false;    ///< that needs a port for a cycle
  bool may_leave = false;  ///< that uop is the conditional branch at the end of the block
  bool locked = false, rep = false;
  bool second_of_pair = false;  ///< fused with the instruction before it, whose slot it shares
  bool fused = false;           ///< it is that, or the other half
  bool serializing = false;
  bool enters_kernel = false;
  bool length_changing_prefix = false;
  x86::TransactionRole transaction = x86::TransactionRole::none;
  bool rare = false;  ///< one of: serializing, enters the kernel, flushes a line
  /// In the line in which the instruction before it in its block ends.
  bool stays_in_line = false;
  u64 end() const { return ip + length; }
  bool loads() const { return (accesses & 1) != 0; }
  bool stores() const { return (accesses & 2) != 0; }
  unsigned slots() const { return unsigned{uops} + added_slots; }
};
static_assert(sizeof(LoweredInstruction) == 64);

/// Quantities that the code says.
struct CodeQuantities {
  u32 uops = 0, heavy_slots = 0, dividing_integers_cycles = 0, dividing_fp_cycles = 0, x87_uops = 0;
  std::array<u32, 4> flops{};  ///< from Quantity::flops_add on

  static CodeQuantities of(const x86::Instruction& instruction, const LoweredInstruction& lowered);
  CodeQuantities& operator+=(const CodeQuantities& other);
  void add_to(Quantities& quantities) const;
};

/// A block as the timing model wants it.
struct LoweredBlock {
  std::vector<LoweredInstruction> instructions;  ///< empty: not lowered yet
  CodeQuantities quantities;                     ///< of all of them
  u64 target = 0;                                ///< of its last branch, if that is direct
  bool branches_within = false;                  ///< before its last instruction
  /// What ran after it the last time: fetched early, as programs are larger than caches.
  std::span<const LoweredInstruction> followed_by;

  /// Of an instruction as Retirement has it.
  u8 fused_length(std::size_t number) const {
    return instructions[number].second_of_pair ? instructions[number - 1].length : u8{0};
  }
};

/// Lowers blocks for a core.
class Lowering {
 public:
  /// `costs` must outlive it.
  Lowering(const CoreParameters& parameters, const InstructionCosts& costs)
      : rules_(parameters), line_bytes_(parameters.l1d.line_bytes), costs_(&costs) {}

  /// Into `lowered`, whose room is used again.
  void lower(const trace::Block& block, LoweredBlock& lowered) const;

 private:
  /// Those of decoders and renamers, as CoreParameters has them.
  struct Rules {
    explicit Rules(const CoreParameters& p)
        : fusion(p.macro_fusion),
          pop_r12_decoding(static_cast<Decoding>(p.pop_r12_decoding)),
          stack_sync(p.stack_sync_uops != 0),
          moves_take_slots(p.move_slots != 0),
          merges_partial_registers(p.merges_partial_registers),
          high_byte_merge_uops(p.high_byte_merge_uops),
          waits_for_old_destination(p.waits_for_old_destination),
          splits_indexed_operands(p.splits_indexed_operands),
          splits_constants_at_rip(p.splits_constants_at_rip != 0),
          slow_addresses(p.slow_address_cycles != 0),
          jump_border_erratum(p.jump_border_erratum != 0) {}
    MacroFusion fusion;
    Decoding pop_r12_decoding;
    bool stack_sync, moves_take_slots;
    unsigned merges_partial_registers, high_byte_merge_uops, waits_for_old_destination,
        splits_indexed_operands;
    bool splits_constants_at_rip, slow_addresses, jump_border_erratum;
  };

  x86::RegisterMask also_read(const x86::Instruction& instruction) const;
  unsigned parted_uops(const x86::Instruction& instruction) const;
  static void leave_uncached(LoweredBlock& lowered);
  bool may_pair(const x86::Instruction& instruction) const;
  Decoding decoding(const x86::Instruction& instruction) const;
  RenamedMove renamed_move(const x86::Instruction& instruction) const;
  bool fuses(const x86::Instruction& first, const x86::Instruction& second) const;
  unsigned uops_of(const x86::Instruction& instruction) const;
  LoweredInstruction lower(const x86::Instruction& instruction) const;

  Rules rules_;
  u64 line_bytes_;
  const InstructionCosts* costs_;
};

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_RETIREMENT_H
#define PMUSIM_CPU_RETIREMENT_H

#include <span>

#include "pmusim/arch/branch.h"
#include "pmusim/base/bus.h"
#include "pmusim/base/extended_state.h"
#include "pmusim/cpu/signals.h"

/// What a core tells its PMU of an instruction that retires.
namespace pmusim {

enum class CacheLevel : u8 { l1, fill_buffer, l2, l3, memory };
enum class TlbLevel : u8 { l1, l2, walk };
enum class AccessKind : u8 { load, store };

/// One data access of a retired instruction, as the memory hierarchy answered it.
struct MemoryAccess {
  u64 address = 0;  ///< linear
  u32 bytes = 0;
  AccessKind kind = AccessKind::load;
  CacheLevel level = CacheLevel::l1;
  TlbLevel tlb = TlbLevel::l1;
  bool locked = false;
  u32 latency_cycles = 0;  ///< dispatch to data ready
};

/// State of a transaction at an instruction (TSX).
enum class TxState : u8 { none, in_tx, aborting };

/// One retired instruction: what the core tells the PMU.
///
/// Retirements come in program order with cycles that never decrease; instructions of one cycle share its
/// number. Borrowed pointers are valid during the call that passes the retirement.
struct Retirement {
  u64 ip = 0;
  u64 next_ip = 0;  ///< where execution goes on: the branch target if `taken`
  u64 cycle = 0;    ///< absolute core cycle in which it retires
  SignalSet signals{};
  Quantities quantities{};
  u8 length = 0;  ///< bytes; 0 for a transfer that is no instruction (interrupt, exception)
  BranchKind branch = BranchKind::none;
  bool taken = false;
  bool mispredicted = false;
  Cpl cpl = Cpl::user;        ///< privilege it executed at
  Cpl cpl_after = Cpl::user;  ///< privilege after it: differs only for far transfers
  TxState tx = TxState::none;
  u32 latency_cycles = 0;         ///< dispatch to retirement
  u32 retire_latency_cycles = 0;  ///< since the previous instruction retired
  std::span<const MemoryAccess> memory{};
  /// General registers after the instruction; null where the trace has none.
  const Registers* registers = nullptr;
  /// What the instruction did to the extended registers; null where it did nothing, or the trace has none.
  const ExtendedChange* extended = nullptr;
};

/// What a branch did.
struct BranchOutcome {
  bool taken = false, mispredicted = false;
};

/// What is true of a branch of this kind whenever it retires.
SignalSet branch_signals(BranchKind kind);

/// What is true of one execution beside that, so that whoever feeds a PMU without the core model can say it
/// as the core does:
///
///     Retirement r{.signals = {Signal::instruction}, .branch = kind, .taken = true};
///     r.signals = r.signals | branch_signals(kind) | outcome_signals(kind, {.taken = true});
SignalSet outcome_signals(BranchKind kind, BranchOutcome outcome);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_LOAD_STORE_UNIT_H
#define PMUSIM_CORE_LOAD_STORE_UNIT_H

#include <array>
#include <optional>
#include <vector>

#include "core/busy_span.h"
#include "core/disambiguation.h"
#include "core/lowered_block.h"
#include "core/memory_hierarchy.h"
#include "core/pipeline.h"
#include "core/store_window.h"

namespace pmusim {

/// The data side of one instruction as the trace tells it.
struct DataAccesses {
  const LoweredInstruction* instruction = nullptr;
  std::span<const u64> addresses;  ///< one per memory operand; empty where the trace has none
  u64 iterations = 1;              ///< of a REP instruction
  u64 slow_cycles = 0;             ///< more than usual that the cache takes
};

/// Takes the accesses of a block's execution, instruction by instruction.
class AccessReader {
 public:
  AccessReader() = default;
  explicit AccessReader(const trace::BlockRun& run) : run_(&run) {}

  DataAccesses take(const LoweredInstruction& instruction) {
    DataAccesses data{&instruction, {}};
    const std::span<const u64> addresses = run_->addresses;
    const std::size_t operands = instruction.operands;
    if (address_ <= addresses.size() && operands <= addresses.size() - address_)
      data.addresses = addresses.subspan(address_, operands);
    address_ += operands;
    if (instruction.rep && repetition_ < run_->rep_counts.size())
      data.iterations = run_->rep_counts[repetition_++];
    return data;
  }

 private:
  const trace::BlockRun* run_ = nullptr;
  std::size_t address_ = 0, repetition_ = 0;
};

/// An instruction on its way to retirement: what has become true of it that its code does not say, and what
/// it asked of the memory hierarchy. The accesses are those of its block so far.
struct Execution {
  SignalSet signals;
  Quantities quantities{};
  std::vector<MemoryAccess> accesses;
  bool clears_pipeline = false;  // behind it

  void clear(Signal why) {
    signals.add(Signal::machine_clear);
    signals.add(why);
    clears_pipeline = true;
  }
};

/// Executes loads and stores against the memory hierarchy.
///
/// A load that fits into an older store has its data forwarded from there: that is how a loop variable that
/// lives in memory forms a dependency chain. One that overlaps and does not fit waits until the store has
/// left the buffer. One that was predicted to need no store whose address was not known yet, and does, clears
/// the pipeline; so does a store into a line of code. Stores drain in order after they retire; nobody waits
/// for them until the store buffer is full. Only a string store, which may be megabytes, retires when all is
/// written.
///
/// Without addresses every access hits L1 and the first-level TLB, and nothing is reported.
class LoadStoreUnit {
 public:
  struct Loaded {
    u64 ready_cycle = 0;
    WaitingFor waiting_for = WaitingFor::execution;
  };

  explicit LoadStoreUnit(const CoreParameters& parameters);

  MemoryHierarchy& hierarchy() { return hierarchy_; }
  /// CLFLUSH and the like, for which the trace has no address, as it is no access: the line, which is in no
  /// cache now. Nothing where registers are not known. Those after the instruction are those before it, too.
  std::optional<u64> flush(const x86::Instruction& instruction, const Registers* registers);
  /// Caches, TLBs and predictors hold what they do there.
  void warm_from(const LoadStoreUnit& before) {
    hierarchy_ = before.hierarchy_;
    hierarchy_.begin_again();
    disambiguation_ = before.disambiguation_;
  }

  /// The loads of an instruction that has some, whose operands are known in `cycle`: when all data are there.
  Loaded load(const DataAccesses& data, u64 cycle, Execution& execution) {
    if (!data.addresses.empty() || data.iterations == 0) return load_known(data, cycle, execution);
    execution.signals.add(Signal::load_l1_hit);
    return {cycle + hierarchy_.hit_latency() + data.slow_cycles, WaitingFor::l1};
  }
  /// When a store's address is known, and its data.
  struct StoreTimes {
    u64 addressed_cycle = 0, data_cycle = 0;
  };
  /// The stores of an instruction that has some: when there is room to retire it.
  Loaded store(const DataAccesses& data, const StoreTimes& times, Execution& execution) {
    if (!data.addresses.empty() || data.iterations == 0) return store_known(data, times, execution);
    execution.signals.add(Signal::store_l1_hit);
    return {times.data_cycle, WaitingFor::execution};
  }
  /// The same of loads and stores of which nothing but their order is known: the caches see them, and older
  /// stores are not looked at.
  void access_in_order(const DataAccesses& data, u64 cycle, Execution& execution);
  /// The same of one of its operands, which need not be in L1: when all data are there.
  Loaded access_in_order(const DataAccesses& data, unsigned operand, AccessKind kind, u64 cycle,
                         Execution& execution);
  /// The instruction with the last store retires in `cycle`.
  void retire_store(u64 cycle) { window_.keep_youngest_until(cycle + 1); }

  /// Bytes of one operand of a REP instruction beyond which it is no longer timed (4 MiB with 64-byte lines).
  static constexpr u64 longest_string_lines = 1u << 16;

 private:
  Loaded load_known(const DataAccesses& data, u64 cycle, Execution& execution);
  Loaded store_known(const DataAccesses& data, const StoreTimes& times, Execution& execution);
  /// Where an operand is in memory; a string with all its iterations.
  struct Place {
    u64 address = 0, bytes = 0;
  };
  /// An operand as caches and TLBs have it.
  struct Found {
    MemoryAccess access;
    Loaded ready;
    bool several_lines = false;
  };
  Found find(const DataAccesses& data, const Place& place, AccessKind kind, u64 cycle, Execution& execution);
  void write_code(u64 address, Execution& execution);
  Loaded touch(const DataAccesses& data, unsigned operand, AccessKind kind, u64 cycle, Execution& execution);
  u64 pass_older_stores(u64 ip, const StoreWindow::Met& met, u64 cycle, Execution& execution);
  u64 data_of(const StoreWindow::Met& met, u64 ready_cycle, Execution& execution) const;

  MemoryHierarchy hierarchy_;
  unsigned forwarding_cycles_, blocked_forward_cycles_, address_alias_cycles_;
  bool one_physical_page_;
  StoreWindow window_;
  DisambiguationPredictor disambiguation_;
  std::vector<u64> store_buffer_;  // a ring: when each store has left it
  std::size_t next_store_ = 0;
  u64 last_commit_ = 0;
  BusySpan full_;  // the store buffer
};

}  // namespace pmusim

#endif

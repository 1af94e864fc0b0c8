// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_RETIREMENT_H
#define PMUSIM_CPU_RETIREMENT_H

#include <array>
#include <bit>
#include <initializer_list>
#include <span>

#include "pmusim/arch/branch.h"
#include "pmusim/arch/xsave.h"
#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"

namespace pmusim {

/// One thing that is true of a retired instruction. A model's event table says which signals an event counts;
/// the core model raises them. An instruction raises a signal at most once.
enum class Signal : u8 {
  // what it is
  instruction,
  nop,
  prefetch,
  locked,
  serializing,
  fp_scalar_single,
  fp_scalar_double,
  fp_packed_128_single,
  fp_packed_128_double,
  fp_packed_256_single,
  fp_packed_256_double,
  fp_packed_512_single,
  fp_packed_512_double,
  x87,
  divide,
  rep_string,
  macro_fused,
  microcoded,
  pause,
  // what it computes, for events of older cores: 16-bit floating point, integers in vectors by width and work
  fp_scalar_half,
  fp_packed_128_half,
  fp_packed_256_half,
  fp_packed_512_half,
  fp_complex_half,
  multiply,
  slow_lea,  ///< three parts, or a scaled index and a displacement
  load_fence,
  vector_integer_64,  ///< in MMX registers
  vector_integer_128,
  vector_integer_256,
  vector_integer_512,
  vector_arithmetic,
  vector_logical,
  vector_shift,
  vector_multiply,
  vector_dot_product,
  vector_pack,
  vector_unpack,
  vector_shuffle,
  register_move,  ///< between general registers
  vector_register_move,
  // software prefetches
  prefetch_nta,
  prefetch_t0,
  prefetch_t1_t2,
  prefetch_write,
  // branches
  branch,
  near_branch,
  conditional,
  conditional_taken,
  conditional_not_taken,
  near_taken,
  direct_jump,
  indirect_jump,
  direct_call,
  indirect_call,
  near_call,
  near_return,
  far_branch,
  indirect,
  // mispredicted branches
  mispredicted,
  mispredicted_conditional,
  mispredicted_conditional_taken,
  mispredicted_conditional_not_taken,
  mispredicted_near_taken,
  mispredicted_indirect,
  mispredicted_indirect_call,
  mispredicted_return,
  // memory, retired accesses
  load,
  store,
  split_load,
  split_store,
  load_l1_hit,
  load_l1_miss,
  load_fb_hit,
  load_l2_hit,
  load_l2_miss,
  load_l3_hit,
  load_l3_miss,
  load_dram,
  store_l1_hit,
  store_l1_miss,
  store_l2_miss,
  store_l3_hit,
  store_l3_miss,
  load_stlb_hit,
  load_stlb_miss,
  store_stlb_hit,
  store_stlb_miss,
  load_dtlb_miss,
  store_dtlb_miss,
  /// A load whose latency can be sampled (load-latency facility); compared with the threshold MSR.
  load_latency,
  store_latency,
  load_hit_hw_prefetch,   ///< a load of a line that a hardware prefetch is bringing into L1
  store_forward_blocked,  ///< a load that overlaps an older store and cannot take its data from it
  address_alias,          ///< a load that waits for an older store with the same address within 4 KiB
  // front end
  l1i_miss,
  l2i_miss,
  l3i_hit,
  l3i_miss,
  itlb_miss,
  stlb_instruction_miss,
  front_end_resteer,
  /// An instruction of a core with a uop cache whose uops were not in it, so that they were decoded
  /// (FRONTEND_RETIRED.ANY_DSB_MISS).
  dsb_miss,
  dsb_to_mite,  ///< the instruction at which delivery went over from the uop cache to the decoders
                ///< (DSB2MITE_SWITCHES)
  ms_switch,    ///< the instruction at which the microcode sequencer took over delivery (IDQ.MS_SWITCHES)
  // machine clears
  machine_clear,
  memory_ordering_clear,
  self_modifying_clear,
  // transactions
  tx_start,
  tx_commit,
  tx_abort,             ///< whatever the reason; each abort has one of those below as well
  tx_abort_conflict,    ///< another processor touched what the transaction had read or written
  tx_abort_capacity,    ///< more lines written or read than the caches can hold back
  tx_abort_explicit,    ///< XABORT
  tx_abort_unfriendly,  ///< an instruction that no transaction may contain: system calls, CPUID, PAUSE
  tx_abort_event,       ///< an interrupt
  // loads that found their line in the caches of other cores, or asked for it there
  load_snoop_miss,  ///< of load_l3_hit: the core that was asked no longer had it
  load_snoop_hit,   ///< it has a clean copy; the data came from L3
  load_snoop_forward,
  load_snoop_modified,  ///< HITM
  load_remote_forward,  ///< of load_l3_miss: from a cache of another package
  load_remote_modified,
  // records that the LBR took in, and ops that IBS tagged: what the PMU alone knows
  lbr_insert,
  ibs_tagged,
  ibs_tagged_retired,
  count_
};

/// A set of signals.
class SignalSet {
 public:
  constexpr SignalSet() = default;
  constexpr SignalSet(std::initializer_list<Signal> signals) {
    for (Signal s : signals) add(s);
  }
  constexpr void add(Signal s) { words_[index(s) / 64] |= bit(index(s) % 64); }
  constexpr bool has(Signal s) const { return (words_[index(s) / 64] & bit(index(s) % 64)) != 0; }
  constexpr unsigned size() const {
    return static_cast<unsigned>(std::popcount(words_[0]) + std::popcount(words_[1]));
  }
  constexpr bool empty() const { return (words_[0] | words_[1]) == 0; }
  constexpr bool intersects(const SignalSet& other) const {
    return ((words_[0] & other.words_[0]) | (words_[1] & other.words_[1])) != 0;
  }
  constexpr bool contains(const SignalSet& other) const {
    return ((other.words_[0] & ~words_[0]) | (other.words_[1] & ~words_[1])) == 0;
  }
  constexpr SignalSet operator|(const SignalSet& other) const {
    SignalSet sum = *this;
    sum.words_[0] |= other.words_[0];
    sum.words_[1] |= other.words_[1];
    return sum;
  }
  /// What only one of the two has.
  constexpr SignalSet operator^(const SignalSet& other) const {
    SignalSet either = *this;
    either.words_[0] ^= other.words_[0];
    either.words_[1] ^= other.words_[1];
    return either;
  }
  friend constexpr bool operator==(const SignalSet&, const SignalSet&) = default;

 private:
  static constexpr unsigned index(Signal s) { return static_cast<unsigned>(s); }
  std::array<u64, 2> words_{};
};
static_assert(static_cast<unsigned>(Signal::count_) <= 128);

/// A number that comes with a retirement: how many uops it had, how many cycles since the one before it were
/// lost to what. Cycle-like quantities cover the time from the previous retirement to this one.
enum class Quantity : u8 {
  none,
  uops,                     ///< uops retired = slots used by retirement
  cycles,                   ///< core cycles since the previous retirement
  reference_cycles,         ///< the same in TSC ticks
  slots,                    ///< issue width * cycles
  slots_bad_speculation,    ///< slots lost to mispredicts and clears
  slots_branch_mispredict,  ///< the mispredict part of it
  slots_frontend,           ///< slots with no uop delivered
  slots_fetch_latency,      ///< the latency part of it
  slots_backend,            ///< slots stalled behind execution or memory
  slots_memory,             ///< the memory part of it
  slots_heavy,              ///< slots used by uops of microcoded instructions
  stall_cycles,             ///< cycles in which nothing retired
  stall_cycles_memory,      ///< of those, waiting for any load
  stall_cycles_l1_miss,
  stall_cycles_l2_miss,
  stall_cycles_l3_miss,
  recovery_cycles,  ///< after a mispredict or clear
  // Front end: cycles in which a source delivered uops to the queue before rename, `any`: at least one; `ok`:
  // as many as rename can take (`issue_width`). They fall to the instruction whose uops made them so.
  dsb_cycles_any,  ///< the uop cache (IDQ.DSB_CYCLES_ANY)
  dsb_cycles_ok,
  mite_cycles_any,  ///< the legacy decoders
  mite_cycles_ok,
  ms_cycles,       ///< the microcode sequencer
  lsd_cycles_any,  ///< the loop stream detector
  lsd_cycles_ok,
  dsb_to_mite_cycles,   ///< lost on the way from uop cache to decoders (DSB2MITE_SWITCHES.PENALTY_CYCLES)
  l1i_stall_cycles,     ///< fetch waited for a line of code (ICACHE_DATA stalls)
  itlb_stall_cycles,    ///< fetch waited for a translation (ICACHE_TAG stalls)
  length_stall_cycles,  ///< the length decoder waited for a length-changing prefix (ILD_STALL.LCP)
  resteer_cycles,  ///< fetch went on late at a target that it did not know (BACLEARS, UNKNOWN_BRANCH_CYCLES)
  clear_resteer_cycles,  ///< of starved_cycles, those behind a recovery (CLEAR_RESTEER_CYCLES)
  starved_cycles,        ///< rename got nothing, and could have taken uops (CYCLES_0_UOPS_DELIV.CORE)
  page_walks_load,
  page_walks_store,
  page_walks_instruction,
  page_walk_cycles,
  l2_requests,
  l2_misses,
  // the same by what is asked for: loads, L1's prefetches and page tables; stores; code. They add up.
  l2_data_reads,
  l2_data_read_misses,
  l2_ownership_reads,
  l2_ownership_read_misses,
  l2_code_reads,
  l2_code_read_misses,
  llc_references,
  llc_misses,
  l1d_replacements,    ///< lines that came into L1D, prefetched ones too
  l2_lines_in,         ///< the same of L2
  l2_prefetches,       ///< requests of L2's own prefetchers
  l2_prefetch_misses,  ///< of those, lines that were not in L2
  // Uops by where they came from. They add up to `uops`; a fused pair comes with its first instruction.
  uops_dsb,
  uops_mite,
  uops_ms,
  uops_lsd,
  slots_fetch_bandwidth,  ///< of slots_frontend, those of cycles in which some uops were delivered
  // page walks by what they are for; their sum is `page_walk_cycles`
  page_walk_cycles_load,
  page_walk_cycles_store,
  page_walk_cycles_instruction,
  // fetch
  l1i_hits,
  l1i_misses,
  // Dispatch. It runs ahead of retirement, so that the cycles that one retirement reports are not those since
  // the one before it; summed up they are.
  uops_issued,         ///< the uops of this retirement: no other path is run
  cycles_issuing,      ///< at least one uop is dispatched
  cycles_not_issuing,  ///< none is
  reorder_buffer_full_cycles,
  scheduler_full_cycles,
  load_buffer_full_cycles,
  store_buffer_full_cycles,
  serializing_stall_cycles,  ///< before and behind an instruction that serializes
  // Execution. Cycles are reported when no uop can start in them any more.
  uops_executed,  ///< uops that go to ports: those of fused ones count apart
  uops_port_0,    ///< by port, as the events of the core group them (core/port_groups.h)
  uops_port_1,
  uops_port_2,
  uops_port_3,
  uops_port_4,
  uops_port_5,
  uops_port_6,
  uops_port_7,
  cycles_executing_none,  ///< no uop starts
  cycles_executing_one,
  cycles_executing_two,
  cycles_executing_three,
  cycles_executing_more,
  cycles_executing_none_of_some,  ///< no uop starts, and the scheduler has some (EXE_BOUND_0_PORTS)
  scheduler_empty_cycles,         ///< no uop waits for its turn
  scheduler_empty_periods,        ///< times that this ended
  divider_cycles_integer,         ///< the divider is busy with
  divider_cycles_fp,
  // Memory requests under way: how many there are, summed up over cycles, and in how many cycles there are
  // any.
  cycles_loads,          ///< any load
  l1d_misses_under_way,  ///< loads that missed L1D
  cycles_l1d_misses,
  cycles_l2_misses,  ///< loads that missed L2
  cycles_l3_misses,  ///< loads that come from memory
  // of these, the cycles in which no uop starts (CYCLE_ACTIVITY.STALLS_*)
  cycles_stalled_loads,
  cycles_stalled_l1d_misses,
  cycles_stalled_l2_misses,
  cycles_stalled_l3_misses,
  // so many at a time
  cycles_four_data_reads,  ///< of all_data_reads_under_way
  cycles_six_data_reads,
  cycles_six_demand_reads,  ///< of data_reads_under_way
  cycles_six_memory_reads,  ///< of memory_reads_under_way
  fill_buffers_full_cycles,
  data_reads_under_way,    ///< requests that left the core: demand loads
  memory_reads_under_way,  ///< of those, loads that come from memory
  ownership_reads_under_way,
  cycles_ownership_reads,
  code_reads_under_way,
  cycles_code_reads,
  all_data_reads,  ///< demand loads and prefetches that left the core
  all_data_reads_under_way,
  cycles_all_data_reads,
  fill_buffers_full_periods,  ///< times that all fill buffers came to be in use
  uops_first_decoder,         ///< of uops_mite, those of the decoder that takes any instruction
  instructions_decoded,       ///< by the legacy decoders, each by one of them; fused pairs as one
  mite_cycles_two_decoders,   ///< in which they take at least two instructions
  mite_cycles_four_uops,      ///< in which at least four of uops_mite come
  uops_x87,                   ///< of uops_executed, those of x87 instructions
  // Floating-point operations by kind, SSE's and AVX's: each lane counts, and a fused multiply-add twice
  flops_add,
  flops_multiply,
  flops_divide,  ///< and square roots
  flops_multiply_add,
  count_
};

/// Whether the quantity is a number of cycles. A counter with a CMASK sees each of these cycles on its own,
/// with `EventRule::per_cycle` occurrences in it; other quantities fall into the cycle of the retirement.
constexpr bool is_cycle_count(Quantity q) {
  return q == Quantity::cycles || q == Quantity::reference_cycles ||
         (q >= Quantity::stall_cycles && q <= Quantity::starved_cycles) || q == Quantity::page_walk_cycles;
}

/// Whether the quantity is a number of cycles that its retirement tells of, and that are not those since the
/// retirement before: dispatch, execution and memory do not keep step with retirement.
constexpr bool is_cycle_total(Quantity q) {
  return (q >= Quantity::page_walk_cycles_load && q <= Quantity::page_walk_cycles_instruction) ||
         (q >= Quantity::cycles_issuing && q <= Quantity::serializing_stall_cycles) ||
         (q >= Quantity::cycles_executing_none && q <= Quantity::cycles_loads) ||
         (q >= Quantity::cycles_l1d_misses && q <= Quantity::fill_buffers_full_cycles) ||
         q == Quantity::cycles_ownership_reads || q == Quantity::cycles_code_reads ||
         q == Quantity::cycles_all_data_reads;
}

/// Whether so much of it can fall into a cycle that AMD counts it with two counters.
constexpr bool is_large_increment(Quantity q) {
  return q >= Quantity::flops_add && q <= Quantity::flops_multiply_add;
}

using Quantities = std::array<u32, static_cast<unsigned>(Quantity::count_)>;

/// How often an event occurred at a retirement: the named quantity, or (with Quantity::none) once if the
/// signals include all of `all`, at least one of `any` (where it is not empty) and nothing of `none`.
/// Quantity::none is 0 in every retirement.
struct EventRule {
  SignalSet all{};
  SignalSet any{};
  SignalSet none{};
  Quantity quantity = Quantity::none;
  std::array<Quantity, 3> plus{};  ///< further quantities that the event is the sum of
  /// A part of `quantity` that the event leaves out: never more of it than of the whole in a retirement.
  Quantity minus = Quantity::none;
  /// Occurrences that one unit of the quantity stands for. CYCLE_ACTIVITY adds up the umask bits of what is
  /// true in a cycle, which the CMASK in its names is compared with.
  u8 per_cycle = 1;

  friend constexpr bool operator==(const EventRule&, const EventRule&) = default;
  constexpr bool matches(const SignalSet& s) const {
    return s.contains(all) && !s.intersects(none) && (any.empty() || s.intersects(any));
  }
};

}  // namespace pmusim

/// What a core tells its PMU of an instruction that retires.
namespace pmusim {

enum class CacheLevel : u8 { l1, fill_buffer, l2, l3, memory };
enum class TlbLevel : u8 { l1, l2, walk };
enum class AccessKind : u8 { load, store };

/// What an access beyond L2 found in the caches of other cores (MESIF).
enum class Snoop : u8 {
  none,      ///< nobody had to be asked
  miss,      ///< a core was asked that no longer had the line
  hit,       ///< a clean copy; the data came from elsewhere
  forward,   ///< a clean copy, whose owner sent it
  modified,  ///< a modified line, whose owner sent it (HITM)
};

/// One data access of a retired instruction, as the memory hierarchy answered it.
struct MemoryAccess {
  u64 address = 0;  ///< linear
  u32 bytes = 0;
  AccessKind kind = AccessKind::load;
  CacheLevel level = CacheLevel::l1;
  TlbLevel tlb = TlbLevel::l1;
  bool locked = false;
  Snoop snoop = Snoop::none;
  bool remote = false;     ///< the answer came from another package
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
  u8 length = 0;        ///< bytes; 0 for a transfer that is no instruction (interrupt, exception)
  u8 fused_length = 0;  ///< of a branch fused with the instruction before it: bytes of that, otherwise 0
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

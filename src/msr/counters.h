// SPDX-License-Identifier: MIT
#ifndef PMUSIM_MSR_COUNTERS_H
#define PMUSIM_MSR_COUNTERS_H

#include <array>
#include <boost/container/static_vector.hpp>
#include <optional>
#include <span>
#include <vector>

#include "cpu/clocks.h"
#include "msr/counter_totals.h"
#include "msr/perf_metrics.h"
#include "msr/row.h"
#include "pmusim/base/bus.h"
#include "pmusim/base/types.h"
#include "pmusim/cpu/model.h"
#include "pmusim/cpu/retirement.h"
#include "pmusim/msr/register.h"

namespace pmusim {

/// Counters are numbered as in GLOBAL_STATUS: GP n is n, fixed m is 32 + m; masks have the same bits.
inline constexpr unsigned first_fixed = 32;
inline constexpr unsigned counter_slots = 48;

/// What one step did to the counters.
struct Counted {
  u64 occurred = 0;    ///< counters that were incremented (all filters passed, CMASK and EDGE satisfied)
  u64 overflowed = 0;  ///< counters that wrapped, and bit 48 when PERF_METRICS' internal counters did

  Counted& operator|=(const Counted& more) {
    occurred |= more.occurred;
    overflowed |= more.overflowed;
    return *this;
  }
};

/// Cycles of one thread in which its privilege and transaction state are the same.
struct CycleSpan {
  u64 begin = 0, end = 0;
  Cpl cpl = Cpl::user;
  bool in_tx = false;
  u64 cycles() const { return end - begin; }
};

/// Registers of other units that narrow down what an event counts.
struct EventFilters {
  std::array<u64, 4> off_core{};  ///< OFFCORE_RSP_0 and 1, or OMR_0 to 3
  u64 front_end = 0;              ///< PEBS_FRONTEND
  u64 load_latency_cycles = 0;    ///< PEBS_LD_LAT_THRESHOLD: loads that take no longer do not count
  bool pebs_in_use = false;       ///< PEBS_ENABLE has a counter bit set: GLOBAL_INUSE shows it
  bool svme = false;              ///< EFER.SVME: only then counts what is for hosts or for guests alone
  bool in_guest = false;          ///< which of the two executes
  void add_to(StateHash& hash) const {
    hash.add(off_core, front_end, load_latency_cycles, pebs_in_use, svme, in_guest);
  }
  friend bool operator==(const EventFilters&, const EventFilters&) = default;
};

/// The general-purpose and fixed counters of one logical processor with their control, status and reload
/// registers: event selects, FIXED_CTR_CTRL, GLOBAL_CTRL / STATUS / INUSE, PERF_METRICS, CFG_C.
///
/// A counter counts while its own enable, its GLOBAL_CTRL bit and the CPL and TSX filters allow it and
/// nothing is frozen; it wraps at the model's width. Status, PMI and reload are the sequencer's business:
/// this class only counts and reports.
///
/// Events come in two kinds. Occurrences (an instruction, a branch, stall cycles before it) come with a
/// retirement; clocks (core cycles, TSC, slots) run while time passes. With CMASK, INV, EQ or EDGE set, both
/// are summed up within a cycle, and the condition is applied when the cycle closes: cycles between
/// retirements have no occurrences, and INV counts them.
///
/// A counter with ANY counts for both threads of its core. The other thread's occurrences and cycles come
/// from there, each filtered by its own privilege; of cycles that both threads have it counts one.
class CounterFile {
 public:
  explicit CounterFile(const CpuModel& model);

  /// Lets core time pass up to `cycle` (not beyond the retirement that comes next, at privilege `cpl`): the
  /// cycles now() to `cycle` - 1 close. Stops after the first cycle in which a counter wraps; call again
  /// until `now()` is `cycle`.
  Counted pass_time(u64 cycle, Cpl cpl) {
    if (cycle == now_) return {};
    if (derived_.sees_cycles) return close_cycles(cycle, cpl);
    now_ = cycle;
    cycle_has_retired_ = false;
    return {};
  }
  /// Core time passes while the processor is halted: nothing counts, and the cycle now() goes on afterwards.
  void stand_still(u64 cycle) { now_ = cycle; }
  /// Counts what an instruction retiring at `now()` did.
  Counted retire(const Retirement& retirement);
  /// Counts `signal` alone, which became true of an instruction after retire() had counted it.
  Counted count_late(Signal signal, const Retirement& retirement);
  u64 now() const { return now_; }

  /// Whether there is another thread on the core: without, ANY makes no difference.
  void share_core(bool shared);
  /// Running counters that count for both threads.
  u64 of_core() const { return derived_.of_core; }
  /// What they count of an instruction that the other thread retires.
  Counted retire_of_sibling(const Retirement& retirement);
  /// And of its cycles. Takes those away from the span that have been counted: all, or those up to the first
  /// in which a counter wraps.
  Counted pass_time_of_sibling(CycleSpan& span);
  /// The cycles now() to `cycle` - 1 as pass_time() closes them: first the one that is open.
  std::array<CycleSpan, 2> cycles_until(u64 cycle, Cpl cpl) const;

  /// Stands for everything that decides what an instruction adds to the counters: a fingerprint of the
  /// enabled ones with their events, conditions and filters. It returns with the programming.
  u64 programming() const { return derived_.programming; }
  /// What one execution of a block adds: `execution` is one that has been seen, `since` the cycle of the
  /// retirement before it. Not additive with a counter that has EDGE, with one that the LBR logs or that
  /// counts LBR records, across a change of privilege or transaction state, and, with a counter that has
  /// CMASK, INV or EQ, if its first cycle is shared with what is before.
  CounterTotals totals(std::span<const Retirement> execution, u64 since) const;
  /// How many executions, `at_most` those, fit before a counter wraps. 0: not even one, or the totals are not
  /// additive, or they are for a programming, privilege or transaction state that is not the present one.
  u64 headroom(const CounterTotals& block, u64 at_most) const;
  /// The same before it is known what will retire, of counters that an instruction counts once at most. 0
  /// where totals would not be additive, too, and where a rule counts quantities and the shape has none.
  CounterRoom room(const RunShape& shape) const;
  /// The same of instructions at any privilege that retire one in a cycle, and add no more than `most` to
  /// counters of quantities.
  u64 quiet_instructions(u32 most) const;
  /// What an instruction with these signals adds in user mode to the counters that count it once at most.
  CounterRow occurrences(const SignalSet& signals) const;
  /// The same for the counters that sum up within a cycle.
  CounterRow occurrences_within_cycle(const SignalSet& signals) const;
  /// What counters of occurrences ask of an instruction.
  SignalSet counted_signals() const;
  /// Whether a running counter counts quantities of instructions in user mode.
  bool counts_quantities() const;
  /// What such counters make of sums over instructions in user mode.
  std::vector<QuantityTerm> quantity_terms() const;
  /// Whether there are some for which sums will not do, as a condition is compared at each instruction.
  bool compares_quantities() const;
  /// Adds what those count of an instruction in user mode.
  void add_compared_quantities(const Retirement& retirement, CounterSums& sums) const;
  /// How much fits into each counter.
  CounterSums quantity_room() const;
  /// Of the counters that sum up within a cycle: what the open one holds so far.
  CounterRow open_cycle() const;
  std::size_t counters_within_cycle() const { return derived_.per_cycle.size(); }
  /// Those that count retirements.
  std::size_t counters_of_retirements() const { return derived_.retired.size(); }
  /// Executes the block `executions` times, no more than headroom() allows, from now() on.
  void advance(const CounterTotals& block, u64 executions);

  u64 value(unsigned counter) const { return counts_[counter]; }
  void set_value(unsigned counter, u64 value) { counts_[counter] = value & width_mask_; }

  /// A counter, with its upper half if it is one of a pair, as it is when it wraps.
  void set_wrapped(unsigned counter) {
    counts_[counter] = 0;
    if ((derived_.merged & bit(counter)) != 0) counts_[counter + 1] = 0;
  }

  u64 status() const { return status_; }
  void set_status(u64 mask);
  void clear_status(u64 mask);
  u64 global_ctrl() const { return global_ctrl_; }
  /// What a legacy freeze does: all enables go off and stay off until software writes GLOBAL_CTRL.
  void clear_global_ctrl();

  /// Takes over what software wrote into registers of other units.
  void set_filters(const EventFilters& filters) {
    if (filters == filters_) return;
    filters_ = filters;
    decoded_ = {};
    derive();
  }
  const EventFilters& filters() const { return filters_; }
  /// Brings everything that is derived from registers up to date. Every register write ends in it.
  void derive();
  /// Whether derive() would change nothing.
  bool is_derived() const;

  /// Counters that request a PMI when they overflow (EVTSEL.INT, fixed PMI bit); bit 48 while metrics count.
  u64 interrupting() const { return derived_.interrupting; }
  /// Counters that could count now, the CPL filter aside.
  u64 running() const { return derived_.running; }
  /// Counters with the adaptive-record bit set.
  u64 adaptive() const { return derived_.adaptive; }
  /// Counters whose CFG_C has them write architectural PEBS records.
  u64 sampling() const { return derived_.sampling; }
  /// GP counters whose occurrences the LBR logs (EVTSEL.BR_CNTR).
  u64 logged_by_lbr() const { return derived_.logged_by_lbr; }
  u64 event_select(unsigned gp) const { return event_select_[gp]; }
  /// What a GP counter counts, if the model can count it.
  std::optional<EventDefinition> event(unsigned gp) const {
    return selected_event(*model_, event_select_[gp], event_filter(event_select_[gp]));
  }
  /// What the running counters count that have a privilege level to count at.
  std::vector<CountedEvent> counted_events() const;
  u64 fixed_ctrl() const { return fixed_ctrl_; }
  u64 cfg_c(unsigned counter) const { return cfg_c_[counter]; }
  u64 perf_metrics() const { return metrics_.read(counts_[first_fixed + slots]); }

  /// The RDPMC instruction. #GP for an encoding that names no counter, and without the right to read.
  FaultOr<u64> rdpmc(u32 ecx, Cpl cpl, bool cr4_pce);
  /// Whether its encoding names a counter, or the metrics.
  bool has_rdpmc(u32 ecx) const;

  const CpuModel& model() const { return *model_; }
  void add_to(StateHash& hash) const;
  static RowFamilies<CounterFile> registers(Vendor vendor);

 private:
  static Rows<CounterFile> count_registers();
  static Rows<CounterFile> select_registers();
  static Rows<CounterFile> status_registers();
  static Rows<CounterFile> amd_core_registers();
  static Rows<CounterFile> amd_global_registers();
  static Rows<CounterFile> amd_instruction_registers();
  static u64 global_ctrl_after_reset(const CpuModel& model);
  u64 in_use() const;

  static constexpr unsigned slots = 3;  // the fixed counter that PERF_METRICS belongs to
  static constexpr unsigned instructions_retired = counter_slots - 1;  // IRPerfCount, which never wraps

  enum class Source : u8 {
    occurrences,  ///< come with a retirement, in its cycle
    lost_cycles,  ///< cycles before a retirement, known at it (stalls, page walks)
    core_clock,
    tsc,
    bus_clock
  };
  /// One running counter: what it counts, decoded from its control bits.
  struct Running {
    EventRule rule{};
    Source source = Source::occurrences;
    u8 counter = 0;
    u8 per_cycle = 1;  // occurrences per core cycle, or per unit of the quantity
    u8 cmask = 0;
    u8 most_in_cycle = 0;  // what it can add in a cycle; 0: all that occurs
    bool inv = false, equal = false, edge = false;
    bool kernel = false, user = false;
    bool only_in_tx = false;
    bool only_slow_loads = false;    // load latency above the threshold
    bool only_of_some = false;       // quantities of instructions with the signals of the rule alone
    bool only_slow_fetches = false;  // FRONTEND_RETIRED: as many slots lost to fetch as its filter says
    bool of_core = false;            // for both threads
    friend bool operator==(const Running&, const Running&) = default;

    bool has_condition() const { return cmask != 0 || equal || edge || most_in_cycle != 0; }
    /// Occurrences wait for the end of the cycle. (Lost cycles have closed when they are known.)
    bool waits_for_cycle() const { return source != Source::lost_cycles && has_condition(); }
    /// Known at a retirement, and counted in user mode outside of transactions by quantity, or in part.
    bool is_quantity() const {
      return rule.quantity != Quantity::none && !waits_for_cycle() && passes(Cpl::user, false);
    }
    /// Of those: of some instructions, or with a condition that sums over all do not show.
    bool compares_quantity() const {
      return is_quantity() && (only_of_some || (has_condition() && !counts_alike_cycles()));
    }
    /// Its condition is one on cycles that are all alike, as far as a retirement tells of them.
    bool counts_alike_cycles() const;
    bool passes(Cpl cpl, bool in_tx) const {
      return (cpl == Cpl::kernel ? kernel : user) && (in_tx || !only_in_tx);
    }
    u32 raw_occurrences(const Retirement& r) const {
      if (rule.quantity == Quantity::none) return rule.matches(r.signals) ? 1 : 0;
      if (only_of_some && !rule.matches(r.signals)) return 0;
      u32 sum = remainder(r);
      for (const Quantity more : rule.plus) sum += r.quantities[static_cast<unsigned>(more)];
      return sum * per_cycle;
    }
    /// Its quantity without the part that it leaves out.
    u32 remainder(const Retirement& r) const {
      return r.quantities[static_cast<unsigned>(rule.quantity)] -
             r.quantities[static_cast<unsigned>(rule.minus)];
    }
    /// Whether a cycle with `k` occurrences satisfies CMASK, INV and EQ.
    bool satisfied_by(u64 k) const;
    u64 beyond_empty(u64 occurrences) const;
  };
  /// What a counter's control bits came to when it last ran: so it is until they or a filter change.
  struct Decoded {
    std::optional<u64> control;
    Running running;
  };
  using RunningList = boost::container::static_vector<Running, counter_slots>;
  /// What the registers come to, in numbers.
  struct DerivedMasks {
    u64 programming = 0;
    u64 running = 0, interrupting = 0, adaptive = 0, logged_by_lbr = 0, checkpointed = 0, sampling = 0;
    u64 merged = 0;  // counters whose upper bits are in the next one
    u64 of_core = 0;
    bool metrics_kernel = false, metrics_user = false;
    bool counts_lbr_inserts = false;
    bool single_steps = false;  // a per-cycle rule on a clock that does not tick evenly
    bool sees_cycles = false;   // of the lists below one but the first is not empty
    friend bool operator==(const DerivedMasks&, const DerivedMasks&) = default;
  };
  /// What the registers come to, kept ready.
  struct Derived : DerivedMasks {
    RunningList retired;    // counts at retirement
    RunningList clocked;    // counts as time passes
    RunningList per_cycle;  // counts when a cycle closes; its occurrences are in `retired` too
    // the same two of counters for both threads
    RunningList core_clocked, core_per_cycle;
    friend bool operator==(const Derived&, const Derived&) = default;

    void recompute(CounterFile& file);  // in place: the lists are long
    void add_gp(CounterFile& file, u64 allowed);
    void add_fixed(CounterFile& file, u64 allowed);
    void start(const Running& counter);
    void count_instructions();
  };

  u64 fingerprint(const Derived& derived) const;
  const Running& decoded_gp(unsigned n);
  const Running& decoded_fixed(unsigned m);
  Running decode_gp(unsigned n) const;
  Running decode_fixed(unsigned m) const;
  /// Bits of an event select that say how the event is counted; those that are something else in the model's
  /// layout read 0.
  u64 modifiers(unsigned gp) const { return event_select_[gp] & modifier_mask_; }
  bool counts_in_mode(unsigned gp) const;
  u64 event_filter(u64 event_select) const;
  bool has_slow_load(const Retirement& r) const;
  bool has_slow_fetch(const Retirement& r) const;
  Running with_event(Running running, const std::optional<EventDefinition>& event) const;

  bool sums_up() const;
  bool is_steady(const Running& running, u64 most) const;
  bool open_cycle_is_steady(Cpl cpl) const;
  bool open_cycle_has_room() const;
  bool ticks_in_every_cycle(const Running& clock) const;
  bool has_shape(const RunShape& shape) const;
  void sum_up_cycles(std::span<const Retirement> execution, CounterTotals& block) const;

  Counted close_cycles(u64 cycle, Cpl cpl);
  void close_span(u64 cycles, Cpl cpl, Counted& counted);
  void close_span_of_core(const CycleSpan& span, Counted& counted);
  void close_last_cycle(const Running& running, const CycleSpan& span);
  CycleSpan uncounted(const Running& running, const CycleSpan& span) const;
  u64 cycles_to_wrap(const Running& running, const CycleSpan& span) const;
  u64 core_cycles_to_wrap(CycleSpan span) const;
  u64 increment(const Running& running, const CycleSpan& span) const;
  u64 ticks(const Running& running, u64 begin, u64 cycles) const;
  u64 cycles_for(const Running& running, u64 begin, u64 wanted_ticks) const;
  // from now() on, outside of transactions or in the one that is open
  CycleSpan span_of(u64 cycles, Cpl cpl) const { return {now_, now_ + cycles, cpl, tx_ == TxState::in_tx}; }
  u64 increment(const Running& running, u64 cycles, Cpl cpl) const {
    return increment(running, span_of(cycles, cpl));
  }
  u64 ticks(const Running& running, u64 cycles) const { return ticks(running, now_, cycles); }
  u64 cycles_for(const Running& running, u64 wanted_ticks) const {
    return cycles_for(running, now_, wanted_ticks);
  }
  void count(const Running& running, u64 occurrences, Counted& counted);
  u64 occurrences(const Running& running, const Retirement& r) const {
    if (running.source == Source::lost_cycles && running.has_condition()) return lost_cycles(running, r);
    const u32 k = running.raw_occurrences(r);
    if (k != 0 && running.only_slow_loads && !has_slow_load(r)) return 0;
    return k != 0 && running.only_slow_fetches && !has_slow_fetch(r) ? 0 : k;
  }
  static u64 lost_cycles(const Running& running, const Retirement& r);
  void add(unsigned counter, u64 occurrences, Counted& counted);
  bool carries(unsigned counter);
  u64 merged_pairs(u64 enabled) const;
  u8 most_in_cycle(const Running& running) const;
  void change_transaction(TxState tx);
  bool goes_back_at_abort(unsigned counter) const;

  const CpuModel* model_;
  u64 width_mask_, modifier_mask_;
  Clock tsc_, bus_;
  u64 now_ = 0;
  std::array<u64, counter_slots> counts_{};
  std::array<u64, 32> event_select_{};
  std::array<u64, counter_slots> cfg_c_{};
  u64 fixed_ctrl_ = 0, global_ctrl_ = 0, status_ = 0;
  u64 hwcr_ = 0;
  PerfMetrics metrics_;
  EventFilters filters_;

  std::array<Decoded, counter_slots> decoded_{};
  Derived derived_;

  // the cycle that is open
  std::array<u32, counter_slots> in_cycle_{};  // occurrences so far, of the counters in `per_cycle`
  u64 was_satisfied_ = 0;                      // counters whose condition held in the cycle before
  bool cycle_has_retired_ = false;
  Cpl cycle_cpl_ = Cpl::kernel;

  // the core
  bool shares_core_ = false;
  std::array<u64, counter_slots> counted_until_{};  // cycles before it, of counters for both threads

  // transactions
  TxState tx_ = TxState::none;
  u64 checkpoint_ = 0, checkpoint_status_ = 0;
};

}  // namespace pmusim

#endif

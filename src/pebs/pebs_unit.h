// SPDX-License-Identifier: MIT
#ifndef PMUSIM_PEBS_PEBS_UNIT_H
#define PMUSIM_PEBS_PEBS_UNIT_H

#include <array>
#include <boost/container/static_vector.hpp>
#include <span>

#include "base/memory.h"
#include "msr/counters.h"
#include "pmusim/arch/branch.h"
#include "pmusim/arch/debug_store.h"

namespace pmusim {

/// Everything that a PEBS record can tell of the moment it is written. Borrowed for the call.
struct AssistInput {
  const Retirement& retirement;  ///< the sampled instruction
  u64 served = 0;                ///< counters that share the record: the answer of `PebsUnit::due`
  u64 tsc = 0;
  const CounterFile& counters;      ///< before any reload
  std::span<const LbrEntry> lbr{};  ///< newest first, this instruction's own branch included
  u64 lbr_control = 0;              ///< IA32_LBR_CTL, architectural PEBS only
  u32 lbr_depth = 0;                ///< IA32_LBR_DEPTH, architectural PEBS only
  LbrEntry last_event{};            ///< LER, architectural PEBS only
  /// The register file after the instruction; null where nobody knows it: vector groups stay empty.
  const ExtendedState* extended = nullptr;
};

/// What an assist did, and what the sequencer must now apply.
struct Assist {
  using Outcome = AssistOutcome;
  struct Reload {
    unsigned counter = 0;
    u64 value = 0;
  };
  Outcome outcome = Outcome::no_area;
  u64 address = 0;  ///< of the record that was written, or what is not mapped
  u32 bytes = 0;    ///< its length
  boost::container::static_vector<Reload, counter_slots> reloads;
  u64 clear_status = 0;  ///< GLOBAL_STATUS bits of the counters reloaded
  u64 raise_status = 0;  ///< bit 62 or 54 when the threshold is reached: set it and request a PMI
};

/// Branch trace store: what one taken branch did.
struct BtsOutcome {
  AssistOutcome outcome = AssistOutcome::no_area;
  u64 address = 0;         ///< as Assist::address
  bool interrupt = false;  ///< DEBUGCTL.BTINT and the threshold is reached: request a PMI
};

/// Precise event-based sampling and branch trace store of one logical processor.
///
/// A PEBS counter that wraps does not interrupt. Its microcode assist needs time to get ready (overflow A to
/// armed B, `pebs_arm_cycles`), in which the counter goes on counting from 0. The next instruction with the
/// counter's event (C) is the sampled one: microcode stores a record about it into memory, gives the counter
/// its reset value and takes back the overflow bit. Counters ready for the same instruction share one record,
/// and so do those that become ready within `pebs_merge_cycles`. Counters with precise distribution see the
/// overflow coming and record the very instruction that overflowed them.
///
/// Per counter: counting (no bit in `overflowed_`) -> arming (bit set, less than the arm delay ago) -> armed.
/// A counter whose enable is cleared meanwhile is held: it gets no record, and goes on waiting when it is
/// enabled again. No manual says that clearing an enable disarms, and systems depend on that it does not:
/// they clear it around a virtual machine and to drain the buffer, and load no counter anew.
class PebsUnit {
 public:
  explicit PebsUnit(const CpuModel& model) : model_(&model) {}

  /// Counters that write records instead of interrupting.
  u64 enabled(const CounterFile& counters) const {
    return model_->has_arch_pebs() ? counters.sampling() : pebs_enable_ & model_->pebs.counters;
  }

  /// Counters that wrapped at `cycle`; those without PEBS or whose event cannot be sampled are left alone.
  /// Returns the counters whose assist begins to get ready.
  u64 arm(u64 overflowed, const CounterFile& counters, u64 cycle);
  /// PEBS_FRONTEND.
  u64 front_end_filter() const { return frontend_; }
  /// PEBS_LD_LAT_THRESHOLD.
  u64 latency_threshold() const { return latency_threshold_; }
  /// Some enabled counter is between its overflow and its record.
  bool busy() const { return overflowed_ != 0; }
  /// Those counters.
  u64 waiting() const { return overflowed_; }

  /// Which counters one record about this instruction serves; 0 = no record. Call it for every retirement
  /// while `busy()`, after its overflows are armed. `occurred`: counters whose event occurred since the
  /// previous retirement, this one's included.
  u64 due(u64 occurred, const Retirement& retirement, const CounterFile& counters);

  /// Writes the record, and ends the wait of the counters served.
  Assist write(Memory& memory, const AssistInput& input);

  /// DEBUGCTL asks for this branch in the branch trace store.
  static bool traces(const Retirement& retirement, u64 debugctl);
  BtsOutcome trace(Memory& memory, const Retirement& retirement, u64 debugctl) const;

  /// Assists since construction by what became of them.
  u64 assists(AssistOutcome outcome) const { return assists_[static_cast<unsigned>(outcome)]; }

  /// Counters that lost their enable while their assist waited.
  u64 held() const { return held_; }
  /// After every register write: waiting counters are held without their enable, and wait again with it.
  void follow_enables(const CounterFile& counters);
  /// Software gave the counter another count: what overflowed is gone.
  void loaded(unsigned counter) { held_ &= ~bit(counter); }

  void add_to(StateHash& hash) const;
  static RowFamilies<PebsUnit> registers(Vendor vendor);

 private:
  static Rows<PebsUnit> ds_registers();
  static Rows<PebsUnit> arch_registers();
  bool precise_distribution(unsigned counter, const CounterFile& counters) const;
  bool qualifies(unsigned counter, const Retirement& retirement, const CounterFile& counters) const;
  Assist::Outcome write_ds(Memory& memory, const AssistInput& input, Assist& assist);
  Assist::Outcome write_arch(Memory& memory, const AssistInput& input, Assist& assist);
  void finish(Memory& memory, const AssistInput& input, Assist& assist);
  u64 reload_value(const Memory& memory, const CounterFile& counters, unsigned counter) const;

  const CpuModel* model_;
  u64 overflowed_ = 0;  // arming or armed, and enabled
  u64 held_ = 0;        // the same, but for the enable
  u64 fresh_ = 0;       // overflowed since the previous retirement
  std::array<u64, counter_slots> overflow_cycle_{};

  u64 pebs_enable_ = 0, data_cfg_ = 0, ds_area_ = 0;
  u64 latency_threshold_ = 0, frontend_ = 0;
  u64 base_ = 0, index_ = 0;                 // architectural PEBS
  std::array<u64, counter_slots> reload_{};  // PEBS via PT
  std::array<u64, static_cast<unsigned>(Assist::Outcome::count_)> assists_{};
};

}  // namespace pmusim

#endif

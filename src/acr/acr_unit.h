// SPDX-License-Identifier: MIT
#ifndef PMUSIM_ACR_ACR_UNIT_H
#define PMUSIM_ACR_ACR_UNIT_H

#include <array>
#include <boost/container/static_vector.hpp>

#include "msr/counters.h"
#include "msr/row.h"

namespace pmusim {

/// Auto counter reload of one logical processor (SDM vol. 3, auto counter reload).
///
/// CFG_B of a counter names its causes: when one of them overflows, the counter takes the reload value in the
/// low half of its CFG_C. A counter may name itself; then its overflow sets no status bit, though it still
/// asks for a PMI if its interrupt is enabled. Software cannot see how often a counter was reloaded;
/// `reload_count` can.
///
/// The unit only answers which counters reload. The sequencer writes the values.
class AcrUnit {
 public:
  struct Reload {
    unsigned counter = 0;
    u64 value = 0;  ///< extended to the counter's width
  };
  struct Reloads {
    boost::container::static_vector<Reload, counter_slots> values;
    /// Overflowed counters that set no status bit: those that are their own cause.
    u64 without_status = 0;
  };

  explicit AcrUnit(const CpuModel& model) : model_(&model) {}

  /// What overflows in one cycle cause.
  Reloads reloads(u64 overflowed, const CounterFile& counters) const {
    // Most programs never write a CFG_B.
    return armed_ == 0 ? Reloads{} : find_reloads(overflowed, counters);
  }
  /// The sequencer applied `reloads`.
  void count(const Reloads& reloads) {
    for (const Reload& reload : reloads.values) ++reload_counts_[reload.counter];
  }
  /// Reloads of a counter since construction.
  u64 reload_count(unsigned counter) const { return reload_counts_[counter]; }
  /// Counters with a non-zero CFG_B.
  u64 armed() const { return armed_; }

  /// Brings everything that is derived from registers up to date. Every register write ends in it.
  void derive() { armed_ = armed_counters(); }
  /// Whether derive() would change nothing.
  bool is_derived() const { return armed_ == armed_counters(); }

  void add_to(StateHash& hash) const { hash.add(cfg_b_, reload_counts_); }
  static RowFamilies<AcrUnit> registers(Vendor vendor);

 private:
  u64 armed_counters() const;
  Reloads find_reloads(u64 overflowed, const CounterFile& counters) const;
  u64 standing(u64 overflowed) const;
  u64 reload_value(unsigned counter, const CounterFile& counters, u64 overflowed) const;

  const CpuModel* model_;
  u64 armed_ = 0;  // derived
  std::array<u64, counter_slots> cfg_b_{};
  std::array<u64, counter_slots> reload_counts_{};
};

}  // namespace pmusim

#endif

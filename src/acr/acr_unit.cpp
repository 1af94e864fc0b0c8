// SPDX-License-Identifier: MIT
#include "acr/acr_unit.h"

namespace pmusim {

/// Counters whose overflow stands. In the order of lowest index first, a counter that a lower cause has just
/// reloaded has never overflowed.
u64 AcrUnit::standing(u64 overflowed) const {
  if (model_->policies.acr_tie == 0) return overflowed;
  u64 causes = overflowed;
  for (const unsigned counter : set_bits(overflowed & armed_))
    if ((causes & low_bits(counter) & cfg_b_[counter]) != 0) causes &= ~bit(counter);
  return causes;
}

AcrUnit::Reloads AcrUnit::find_reloads(u64 overflowed, const CounterFile& counters) const {
  Reloads result;
  const u64 causes = standing(overflowed);
  for (const unsigned counter : set_bits(armed_))
    if ((cfg_b_[counter] & causes) != 0)
      result.values.push_back({counter, reload_value(counter, counters, overflowed)});
  result.without_status = overflowed & ~causes;
  for (const unsigned counter : set_bits(causes & armed_))
    if ((cfg_b_[counter] & bit(counter)) != 0) result.without_status |= bit(counter);
  return result;
}

u64 AcrUnit::reload_value(unsigned counter, const CounterFile& counters, u64 overflowed) const {
  constexpr u64 low_half = bits(31, 0);
  const u64 programmed = counters.cfg_c(counter) & low_half;
  const u64 extended =
      model_->policies.acr_reload_extension == 1 ? programmed | ~low_half : sign_extend(programmed, 31);
  const bool keeps_residue = model_->policies.acr_lost_increment == 0 && (overflowed & bit(counter)) != 0;
  return (extended + (keeps_residue ? counters.value(counter) : 0)) & low_bits(model_->counter_width);
}

u64 AcrUnit::armed_counters() const {
  u64 armed = 0;
  for (unsigned counter = 0; counter < cfg_b_.size(); ++counter)
    if (cfg_b_[counter] != 0) armed |= bit(counter);
  return armed;
}

}  // namespace pmusim

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_UNMODELLED_SIGNALS_H
#define PMUSIM_CPU_UNMODELLED_SIGNALS_H

#include "pmusim/cpu/model.h"

namespace pmusim {

/// What the core never says of an instruction of a trace, on any model. Retirements that somebody else makes
/// can have them.
inline constexpr SignalSet unmodelled_signals{
    Signal::dsb_miss,          Signal::dsb_to_mite,         Signal::ms_switch,
    Signal::tx_abort,          Signal::tx_abort_conflict,   Signal::tx_abort_capacity,
    Signal::tx_abort_explicit, Signal::tx_abort_unfriendly, Signal::tx_abort_event};

/// The same of one core. An event that needs one of them must be refused, not counted as 0.
inline SignalSet signals_never_raised(const CpuModel& model) {
  const CoreParameters& core = model.core;
  SignalSet never = unmodelled_signals;
  if (core.macro_fusion == MacroFusion::none) never.add(Signal::macro_fused);
  if (core.disambiguation_loads == 0) never.add(Signal::memory_ordering_clear);
  if (core.l1_stride_loads == 0) never.add(Signal::load_hit_hw_prefetch);
  if (core.address_alias_cycles == 0) never.add(Signal::address_alias);
  return never;
}

/// Quantities that no core tells yet: an event that needs one of them must be refused, too.
constexpr bool is_never_told(Quantity q, const CoreParameters& /*core*/) {
  return (q >= Quantity::dsb_cycles_any && q <= Quantity::starved_cycles) ||
         (q >= Quantity::uops_dsb && q <= Quantity::slots_fetch_bandwidth);
}

}  // namespace pmusim

#endif

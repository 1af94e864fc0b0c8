// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_UNMODELLED_SIGNALS_H
#define PMUSIM_CPU_UNMODELLED_SIGNALS_H

#include "pmusim/cpu/model.h"

namespace pmusim {

/// What ends a transaction before it commits: that it does, and why.
inline constexpr SignalSet abort_signals{
    Signal::tx_abort,          Signal::tx_abort_conflict,   Signal::tx_abort_capacity,
    Signal::tx_abort_explicit, Signal::tx_abort_unfriendly, Signal::tx_abort_event,
};

/// What only a core with caches and translations knows of an instruction's accesses.
inline constexpr SignalSet address_signals{
    Signal::split_load,
    Signal::split_store,
    Signal::load_l1_hit,
    Signal::load_l1_miss,
    Signal::load_fb_hit,
    Signal::load_l2_hit,
    Signal::load_l2_miss,
    Signal::load_l3_hit,
    Signal::load_l3_miss,
    Signal::load_dram,
    Signal::store_l1_hit,
    Signal::store_l1_miss,
    Signal::store_l2_miss,
    Signal::store_l3_hit,
    Signal::store_l3_miss,
    Signal::load_stlb_hit,
    Signal::load_stlb_miss,
    Signal::store_stlb_hit,
    Signal::store_stlb_miss,
    Signal::load_dtlb_miss,
    Signal::store_dtlb_miss,
    Signal::load_latency,
    Signal::store_latency,
    Signal::load_hit_hw_prefetch,
    Signal::store_forward_blocked,
    Signal::address_alias,
    Signal::load_snoop_miss,
    Signal::load_snoop_hit,
    Signal::load_snoop_forward,
    Signal::load_snoop_modified,
    Signal::load_remote_forward,
    Signal::load_remote_modified,
    Signal::machine_clear,
    Signal::memory_ordering_clear,
    Signal::self_modifying_clear,
};

/// What only a core with others beside it knows of its loads.
inline constexpr SignalSet snoop_signals{
    Signal::load_snoop_miss,     Signal::load_snoop_hit,      Signal::load_snoop_forward,
    Signal::load_snoop_modified, Signal::load_remote_forward, Signal::load_remote_modified,
};

/// What a model never reports of an instruction of a trace. Retirements made by a user of the library can. An
/// event that needs one of them must be refused, not counted as 0.
inline SignalSet signals_never_raised(const CpuModel& model) {
  const CoreParameters& core = model.core;
  SignalSet never;
  if (core.macro_fusion == MacroFusion::none) never.add(Signal::macro_fused);
  if (core.disambiguation_loads == 0) never.add(Signal::memory_ordering_clear);
  if (core.l1_stride_loads == 0) never.add(Signal::load_hit_hw_prefetch);
  if (core.address_alias_cycles == 0) never.add(Signal::address_alias);
  if (core.uop_cache_lines == 0) never = never | SignalSet{Signal::dsb_miss, Signal::dsb_to_mite};
  if (!model.rtm) never = never | abort_signals | SignalSet{Signal::tx_start, Signal::tx_commit};
  if (!model.has_neighbours) never = never | snoop_signals;
  if (model.policies.tx_conflict_every == 0) never.add(Signal::tx_abort_conflict);
  return never;
}

/// Whether a core never tells a quantity, as it lacks what the quantity is of.
inline bool is_never_reported(Quantity quantity, const CoreParameters& core) {
  switch (quantity) {
    case Quantity::uops_dsb:
    case Quantity::dsb_cycles_any:
    case Quantity::dsb_cycles_ok:
    case Quantity::dsb_to_mite_cycles:
      return core.uop_cache_lines == 0;
    case Quantity::uops_lsd:
    case Quantity::lsd_cycles_any:
    case Quantity::lsd_cycles_ok:
      return core.loop_buffer_uops == 0;
    default:
      return false;
  }
}

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_MEMORY_SIGNALS_H
#define PMUSIM_CPU_MEMORY_SIGNALS_H

#include <array>

#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// Whether an access touches one cache line or more.
enum class Lines : u8 { one, several };

/// What is true of an instruction because of one of its data accesses: cache and TLB levels, latency, splits.
SignalSet access_signals(const MemoryAccess& access, Lines lines);

/// The same of an access that hits L1 and its TLB, in one line.
constexpr SignalSet signals_of_hit(AccessKind kind) {
  constexpr SignalSet loaded{Signal::load_l1_hit, Signal::load_latency},
      stored{Signal::store_l1_hit, Signal::store_latency};
  return kind == AccessKind::load ? loaded : stored;
}

/// What is true of an instruction whose code fetch found there.
SignalSet fetch_signals(CacheLevel level, TlbLevel tlb);

/// What the accesses of an instruction raise if all hit, by LoweredInstruction::accesses. Without addresses
/// there is no latency.
std::array<SignalSet, 4> signals_of_hits(bool addresses_known);

}  // namespace pmusim

#endif

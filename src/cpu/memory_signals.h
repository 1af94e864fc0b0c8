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

/// What is true of an instruction whose code fetch found there.
SignalSet fetch_signals(CacheLevel level, TlbLevel tlb);

/// What accesses raise that hit L1 and its TLB: none, loads, stores, both.
std::array<SignalSet, 4> signals_of_hits(bool addresses_known);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_MEMORY_SIGNALS_H
#define PMUSIM_CPU_MEMORY_SIGNALS_H

#include "pmusim/cpu/retirement.h"

namespace pmusim {

/// Whether an access touches one cache line or more.
enum class Lines : u8 { one, several };

/// What is true of an instruction because of one of its data accesses: cache and TLB levels, latency, splits.
SignalSet access_signals(const MemoryAccess& access, Lines lines);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CPU_UNMODELLED_SIGNALS_H
#define PMUSIM_CPU_UNMODELLED_SIGNALS_H

#include "pmusim/cpu/signals.h"

namespace pmusim {

/// What the core never says of an instruction of a trace. An event that needs one of them must be refused,
/// not counted as 0. Retirements that somebody else makes can have them.
inline constexpr SignalSet unmodelled_signals{Signal::macro_fused,          Signal::dsb_miss,
                                              Signal::machine_clear,        Signal::memory_ordering_clear,
                                              Signal::self_modifying_clear, Signal::tx_abort};

}  // namespace pmusim

#endif

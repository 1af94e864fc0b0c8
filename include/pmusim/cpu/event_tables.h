#ifndef PMUSIM_CPU_EVENT_TABLES_H
#define PMUSIM_CPU_EVENT_TABLES_H

#include <span>

#include "pmusim/cpu/microarchitecture.h"
#include "pmusim/cpu/model.h"

namespace pmusim {

/// The vendor events of a microarchitecture that the core can honestly produce, architectural and
/// fixed-counter events included: what a preset's `events` points at. Encodings are the vendor's.
///
/// A microarchitecture without a table of its own has the architectural events only.
///
/// Rows of one event and umask that differ in CMASK, INV or EDGE are one hardware event under several names
/// and have the same rule.
std::span<const EventDefinition> event_table(Microarchitecture microarchitecture);

}  // namespace pmusim

#endif

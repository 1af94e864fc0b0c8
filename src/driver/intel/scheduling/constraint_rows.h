// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_SCHEDULING_CONSTRAINT_ROWS_H
#define PMUSIM_SRC_DRIVER_INTEL_SCHEDULING_CONSTRAINT_ROWS_H

#include <span>

#include "driver/x86/constraint.h"
#include "pmusim/arch/msr.h"

namespace pmusim::driver {

/// One row of a core's constraint table as it stands in the tables below, before it meets the counters that
/// CPUID enumerates. Codes are written umask and event: 0x01C0.
struct ConstraintRow {
  Constraint constraint;
  bool exclusive = false;  ///< corrupts the sibling thread's counter of the same number
};

namespace rows {

// What a row compares. A fixed counter has no edge, inv, cmask or transaction bits: an event that sets one is
// not the event of the fixed row.
inline constexpr u64 event_only = msr::evtsel::EVENT;
inline constexpr u64 event_and_umask = msr::evtsel::EVENT | msr::evtsel::UMASK;
inline constexpr u64 whole_event = event_and_umask | msr::evtsel::EDGE | msr::evtsel::INV |
                                   msr::evtsel::CMASK | msr::evtsel::IN_TX | msr::evtsel::IN_TXCP |
                                   msr::evtsel::EQ | msr::evtsel::UMASK2;
inline constexpr u64 cycles_alias = msr::evtsel::INV | u64{16} << 24;

constexpr ConstraintRow row(u64 code, u64 mask, u64 size, u64 counters) {
  return {{.counters = counters, .code = code, .mask = mask, .size = size, .overlap = false}, false};
}
constexpr ConstraintRow event(u8 code, u64 counters) { return row(code, event_only, 0, counters); }
constexpr ConstraintRow events(u8 first, u8 last, u64 counters) {
  return row(first, event_only, u64{last} - first, counters);
}
constexpr ConstraintRow umask(u16 code, u64 counters) { return row(code, event_and_umask, 0, counters); }
constexpr ConstraintRow umasks(u8 event, u8 umask_bits, u64 counters) {
  return row(u64{event} | u64{umask_bits} << 8, event_only | u64{umask_bits} << 8, 0, counters);
}
constexpr ConstraintRow fixed(u16 code, unsigned n) {
  return row(code, whole_event, 0, bit(counter::FIXED + n));
}
constexpr ConstraintRow metric(u16 code, unsigned n) {
  return row(code, event_and_umask, 0, bit(counter::METRICS + n));
}
constexpr ConstraintRow any_event(u64 counters) { return row(0, 0, 0, counters); }
constexpr ConstraintRow exclusive(u8 first, u8 last, u64 counters) {
  ConstraintRow r = events(first, last, counters);
  r.exclusive = true;
  return r;
}

}  // namespace rows

/// The tables of one core. `fixed` is asked first, then `main`; for precise events `pebs` before both.
struct ConstraintTables {
  std::span<const ConstraintRow> fixed, main, pebs;
};

}  // namespace pmusim::driver

#endif

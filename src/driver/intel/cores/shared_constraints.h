// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_DRIVER_INTEL_CORES_SHARED_CONSTRAINTS_H
#define PMUSIM_SRC_DRIVER_INTEL_CORES_SHARED_CONSTRAINTS_H

#include "driver/intel/scheduling/constraint_rows.h"

/// Constraint rows that several cores have, named after the first (intel_*_event_constraints). First match
/// wins: narrow rows stand before ranges. Those called corrected are of Linux 7.3, where 6.12 has others of
/// the same core; cores that 6.12 does not know have one table, which is of 7.3.
namespace pmusim::driver::rows {

inline constexpr u64 gp0 = 0x1, gp1 = 0x2, gp2 = 0x4, gp3 = 0x8, gp01 = 0x3, gp0_3 = 0xF, gp0_5 = 0x3F,
                     gp0_7 = 0xFF, gp1_7 = 0xFE;
inline constexpr u64 gp2_7 = 0xFC, gp2_9 = 0x3FC, gp0_9 = 0x3FF;
inline constexpr u64 fixed0 = bit(32), fixed3 = bit(35);

inline constexpr ConstraintRow three_fixed[] = {fixed(0x00C0, 0), fixed(0x003C, 1), fixed(0x0300, 2)};

// Any precise event sits on GP 0-3 and never on a fixed counter, however wide its main row is.
inline constexpr ConstraintRow sandy_bridge_pebs[] = {
    umask(0x01C0, gp1),           umask(0x01CD, gp3), umask(0x02CD, gp3),
    exclusive(0xD0, 0xD3, gp0_3), any_event(gp0_3),
};

inline constexpr ConstraintRow broadwell_pebs[] = {umask(0x01C0, gp1), umask(0x01CD, gp0_3),
                                                   any_event(gp0_3)};

inline constexpr ConstraintRow skylake_main[] = {
    umask(0x01C0, gp1),
    events(0xD0, 0xD2, gp0_3),
    event(0xCD, gp0_3),
    event(0xC6, gp0_3),
};

inline constexpr ConstraintRow golden_cove_fixed[] = {
    fixed(0x00C0, 0),  fixed(0x0100, 0),  fixed(0x003C, 1),  fixed(0x0300, 2),  fixed(0x013C, 2),
    fixed(0x0400, 3),  metric(0x8000, 0), metric(0x8100, 1), metric(0x8200, 2), metric(0x8300, 3),
    metric(0x8400, 4), metric(0x8500, 5), metric(0x8600, 6), metric(0x8700, 7),
};

/// Each fixed counter by its own code of event 00, too.
inline constexpr ConstraintRow corrected_golden_cove_fixed[] = {
    fixed(0x00C0, 0),  fixed(0x0100, 0),  fixed(0x003C, 1),  fixed(0x0200, 1),  fixed(0x0300, 2),
    fixed(0x013C, 2),  fixed(0x0400, 3),  metric(0x8000, 0), metric(0x8100, 1), metric(0x8200, 2),
    metric(0x8300, 3), metric(0x8400, 4), metric(0x8500, 5), metric(0x8600, 6), metric(0x8700, 7),
};

inline constexpr ConstraintRow golden_cove_main[] = {
    event(0x2E, gp0_7),   event(0x3C, gp0_7),   events(0x01, 0x8F, gp0_3), umask(0x01A3, gp0_3),
    umask(0x02A3, gp0_3), umask(0x08A3, gp0_3), umask(0x04A4, gp0),        umask(0x08A4, gp0),
    umask(0x02CD, gp0),   event(0xCE, gp0),     events(0xD0, 0xDF, gp0_3), events(0x90, 0xFE, gp0_7),
};

inline constexpr ConstraintRow corrected_golden_cove_main[] = {
    event(0x2E, gp0_7),   event(0x3C, gp0_7),   events(0x01, 0x8F, gp0_3), umask(0x01A3, gp0_3),
    umask(0x02A3, gp0_3), umask(0x05A3, gp0_3), umask(0x06A3, gp0_3),      umask(0x08A3, gp0_3),
    umask(0x0CA3, gp0_3), umask(0x04A4, gp0),   umask(0x08A4, gp0),        umask(0x01CD, gp1_7),
    umask(0x02CD, gp0),   event(0xCE, gp0),     events(0xD0, 0xDF, gp0_3), events(0x90, 0xFE, gp0_7),
};

inline constexpr ConstraintRow golden_cove_pebs[] = {
    umask(0x0100, fixed0), umask(0x0400, fixed3), event(0xC0, gp1_7),
    umask(0x01CD, gp1_7),  umask(0x02CD, gp0),    events(0xD0, 0xD4, gp0_3),
};

inline constexpr ConstraintRow corrected_golden_cove_pebs[] = {
    event(0xC0, gp1_7),
    umask(0x01CD, gp1_7),
    umask(0x02CD, gp0),
    events(0xD0, 0xD4, gp0_3),
};

inline constexpr ConstraintRow lion_cove_main[] = {
    event(0x20, gp0_3),        umask(0x012A, gp0_3), umask(0x012B, gp0_3), umask(0x0148, gp2),
    umask(0x0175, gp2),        event(0x2E, gp0_9),   event(0x3C, gp0_9),   umask(0x08A3, gp2),
    umask(0x0CA3, gp2),        umask(0x04A4, gp0),   umask(0x08A4, gp0),   umask(0x10A4, gp3),
    umask(0x01B1, gp3),        umask(0x01CD, gp2_9), umask(0x02CD, gp01),  umask(0x87D0, gp0_9),
    events(0xD0, 0xDF, gp0_3), umask(0x00E0, gp0_3),
};

inline constexpr ConstraintRow corrected_lion_cove_main[] = {
    event(0x20, gp0_3),  umask(0x0148, gp2),   umask(0x0175, gp2),        event(0x2E, gp0_9),
    event(0x3C, gp0_9),  umask(0x08A3, gp2),   umask(0x0CA3, gp2),        umask(0x04A4, gp0),
    umask(0x08A4, gp0),  umask(0x10A4, gp3),   umask(0x01B1, gp3),        umask(0x01CD, gp2_9),
    umask(0x02CD, gp01), umask(0x87D0, gp0_9), events(0xD0, 0xDF, gp0_3),
};

inline constexpr ConstraintRow lion_cove_pebs[] = {
    umask(0x0100, fixed0), umask(0x0400, fixed3), umask(0x012A, gp0),
    umask(0x012B, gp0),    umask(0x01CD, gp2_9),  umask(0x02CD, gp01),
};

inline constexpr ConstraintRow corrected_lion_cove_pebs[] = {
    umask(0x012A, gp0),
    umask(0x012B, gp0),
    umask(0x01CD, gp2_9),
    umask(0x02CD, gp01),
};

inline constexpr ConstraintRow panther_cove_main[] = {
    event(0x20, gp0_3),   event(0x79, gp0_3),   umask(0x0275, gp0_3), umask(0x0176, gp0_3),
    umask(0x04A4, gp0),   umask(0x08A4, gp0),   umask(0x01CD, gp2_7), umask(0x02CD, gp01),
    event(0xCE, gp0),     event(0xD0, gp0_3),   event(0xD1, gp0_3),   event(0xD4, gp0_3),
    event(0xD6, gp0_3),   event(0xDF, gp0_3),   umask(0x01B1, gp3),   umask(0x01B2, gp0_3),
    umask(0x02B2, gp0_3), umask(0x0446, gp0_3), umask(0x0846, gp0_3), umask(0x0847, gp0_3),
    umask(0x0148, gp0_3),
};

inline constexpr ConstraintRow panther_cove_pebs[] = {umask(0x01CD, gp2_7), umask(0x02CD, gp01)};

inline constexpr ConstraintRow old_atom_pebs[] = {any_event(gp0)};

inline constexpr ConstraintRow gracemont_fixed[] = {
    fixed(0x00C0, 0),
    fixed(0x003C, 1),
    fixed(0x0300, 2),
    fixed(0x013C, 2),
};

inline constexpr ConstraintRow gracemont_pebs[] = {umask(0x05D0, gp01), umask(0x06D0, gp0_5)};
inline constexpr ConstraintRow crestmont_pebs[] = {umask(0x05D0, gp01), umask(0x06D0, gp0_7)};
inline constexpr ConstraintRow darkmont_pebs[] = {umask(0x05D0, gp0_7), umask(0x06D0, gp0_7)};

inline constexpr ConstraintRow corrected_gracemont_fixed[] = {
    fixed(0x00C0, 0), fixed(0x0100, 0), fixed(0x003C, 1),
    fixed(0x0200, 1), fixed(0x0300, 2), fixed(0x013C, 2),
};

inline constexpr ConstraintRow skymont_fixed[] = {
    fixed(0x00C0, 0), fixed(0x003C, 1), fixed(0x0300, 2), fixed(0x013C, 2),
    fixed(0x0073, 4), fixed(0x019C, 5), fixed(0x02C2, 6),
};

inline constexpr ConstraintRow corrected_skymont_fixed[] = {
    fixed(0x00C0, 0), fixed(0x0100, 0), fixed(0x003C, 1), fixed(0x0200, 1),
    fixed(0x0300, 2), fixed(0x013C, 2), fixed(0x0073, 4), fixed(0x0500, 4),
    fixed(0x019C, 5), fixed(0x0600, 5), fixed(0x02C2, 6), fixed(0x0700, 6),
};

}  // namespace pmusim::driver::rows

#endif

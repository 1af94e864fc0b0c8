// Core 2 to Skylake, and what holds for any part (reference 4.6).
#include "constraint_rows.h"

namespace pmusim::driver {
namespace {

using namespace rows;

constexpr u64 gp0 = 0x1, gp1 = 0x2, gp2 = 0x4, gp3 = 0x8, gp01 = 0x3, gp0_3 = 0xF;

constexpr ConstraintRow three_fixed[] = {fixed(0x00C0, 0), fixed(0x003C, 1), fixed(0x0300, 2)};

constexpr ConstraintRow architectural[] = {
    fixed(0x00C0, 0),  fixed(0x003C, 1),  fixed(0x0300, 2),  fixed(0x0400, 3),
    fixed(0x0500, 4),  fixed(0x0600, 5),  fixed(0x0700, 6),  fixed(0x0800, 7),
    fixed(0x0900, 8),  fixed(0x0A00, 9),  fixed(0x0B00, 10), fixed(0x0C00, 11),
    fixed(0x0D00, 12), fixed(0x0E00, 13), fixed(0x0F00, 14), fixed(0x1000, 15),
};

constexpr ConstraintRow core2_main[] = {
    event(0x10, gp0), event(0x11, gp1), event(0x12, gp1), event(0x13, gp1), event(0x14, gp0),
    event(0x18, gp0), event(0x19, gp1), event(0xA1, gp0), event(0xC9, gp0), event(0xCB, gp0),
};
constexpr ConstraintRow core2_pebs[] = {
    umask(0x00C0, gp0), umask(0xFEC1, gp0), umask(0x00C5, gp0),
    umask(0x1FC7, gp0), event(0xCB, gp0),   row(0xC0 | cycles_alias, whole_event, 0, gp0),
};

constexpr ConstraintRow nehalem_main[] = {
    events(0x40, 0x43, gp01), event(0x48, gp01), event(0x4E, gp01), event(0x51, gp01), event(0x63, gp01),
};
constexpr ConstraintRow nehalem_pebs[] = {
    umask(0x100B, gp0_3), event(0x0F, gp0_3), umask(0x010C, gp0_3), event(0xC0, gp0_3),
    event(0xC2, gp0_3),   event(0xC4, gp0_3), umask(0x02C5, gp0_3), event(0xC7, gp0_3),
    umask(0x20C8, gp0_3), event(0xCB, gp0_3), event(0xF7, gp0_3),
};

constexpr ConstraintRow westmere_main[] = {
    event(0x51, gp01),
    event(0x60, gp0),
    event(0x63, gp01),
    event(0xB3, gp0),
};
constexpr ConstraintRow westmere_pebs[] = {
    umask(0x100B, gp0_3), event(0x0F, gp0_3), umask(0x010C, gp0_3), event(0xC0, gp0_3),
    event(0xC2, gp0_3),   event(0xC4, gp0_3), event(0xC5, gp0_3),   event(0xC7, gp0_3),
    umask(0x20C8, gp0_3), event(0xCB, gp0_3), event(0xF7, gp0_3),
};

constexpr ConstraintRow sandy_bridge_main[] = {
    umask(0x04A3, gp0_3), umask(0x05A3, gp0_3), umask(0x02A3, gp2), umask(0x06A3, gp2),
    event(0x48, gp2),     umask(0x01C0, gp1),   event(0xCD, gp3),   exclusive(0xD0, 0xD3, gp0_3),
};
// Any precise event sits on GP 0-3 and never on a fixed counter, however wide its main row is.
constexpr ConstraintRow sandy_bridge_pebs[] = {
    umask(0x01C0, gp1),           umask(0x01CD, gp3), umask(0x02CD, gp3),
    exclusive(0xD0, 0xD3, gp0_3), any_event(gp0_3),
};

constexpr ConstraintRow ivy_bridge_main[] = {
    umask(0x0148, gp2),   umask(0x0279, gp0_3), umask(0x019C, gp0_3),         umask(0x02A3, gp0_3),
    umask(0x04A3, gp0_3), umask(0x05A3, gp0_3), umask(0x06A3, gp0_3),         umask(0x08A3, gp2),
    umask(0x0CA3, gp2),   umask(0x01C0, gp1),   exclusive(0xD0, 0xD3, gp0_3),
};

constexpr ConstraintRow haswell_main[] = {
    umask(0x0148, gp2),           umask(0x01C0, gp1), event(0xCD, gp3),
    umask(0x08A3, gp2),           umask(0x0CA3, gp2), umask(0x04A3, gp0_3),
    exclusive(0xD0, 0xD3, gp0_3),
};
constexpr ConstraintRow haswell_pebs[] = {
    umask(0x01C0, gp1),
    umask(0x01CD, gp0_3),
    exclusive(0xD0, 0xD3, gp0_3),
    any_event(gp0_3),
};

constexpr ConstraintRow broadwell_main[] = {
    umask(0x0148, gp2),
    umasks(0xA3, 0x08, gp2),
    events(0xD0, 0xD2, gp0_3),
    event(0xCD, gp0_3),
};
constexpr ConstraintRow broadwell_pebs[] = {umask(0x01C0, gp1), umask(0x01CD, gp0_3), any_event(gp0_3)};

constexpr ConstraintRow skylake_main[] = {
    umask(0x01C0, gp1),
    events(0xD0, 0xD2, gp0_3),
    event(0xCD, gp0_3),
    event(0xC6, gp0_3),
};

}  // namespace

const ConstraintTables three_fixed_constraints{three_fixed, {}, {}};
const ConstraintTables architectural_constraints{architectural, {}, {}};
const ConstraintTables core2_constraints{three_fixed, core2_main, core2_pebs};
const ConstraintTables nehalem_constraints{three_fixed, nehalem_main, nehalem_pebs};
const ConstraintTables westmere_constraints{three_fixed, westmere_main, westmere_pebs};
const ConstraintTables sandy_bridge_constraints{three_fixed, sandy_bridge_main, sandy_bridge_pebs};
const ConstraintTables ivy_bridge_constraints{three_fixed, ivy_bridge_main, sandy_bridge_pebs};
const ConstraintTables haswell_constraints{three_fixed, haswell_main, haswell_pebs};
const ConstraintTables broadwell_constraints{three_fixed, broadwell_main, broadwell_pebs};
const ConstraintTables skylake_constraints{three_fixed, skylake_main, broadwell_pebs};

}  // namespace pmusim::driver

// E cores and their ancestors (reference 4.6).
#include "constraint_rows.h"

namespace pmusim::driver {
namespace {

using namespace rows;

constexpr u64 gp0 = 0x1, gp1 = 0x2, gp01 = 0x3, gp0_5 = 0x3F, gp0_7 = 0xFF;

constexpr ConstraintRow three_fixed[] = {fixed(0x00C0, 0), fixed(0x003C, 1), fixed(0x0300, 2)};
constexpr ConstraintRow old_atom_pebs[] = {any_event(gp0)};

constexpr ConstraintRow gracemont_fixed[] = {
    fixed(0x00C0, 0),
    fixed(0x003C, 1),
    fixed(0x0300, 2),
    fixed(0x013C, 2),
};
constexpr ConstraintRow gracemont_pebs[] = {umask(0x05D0, gp01), umask(0x06D0, gp0_5)};

constexpr ConstraintRow skymont_fixed[] = {
    fixed(0x00C0, 0), fixed(0x003C, 1), fixed(0x0300, 2), fixed(0x013C, 2),
    fixed(0x0073, 4), fixed(0x019C, 5), fixed(0x02C2, 6),
};

// Off-module responses: the umask names the one OMR register, and with it the counter.
constexpr ConstraintRow arctic_wolf_main[] = {
    umask(0x01B7, 0x1), umask(0x02B7, 0x2), umask(0x04B7, 0x4), umask(0x08B7, 0x8),
    umask(0x01D4, 0x1), umask(0x02D4, 0x2), umask(0x04D4, 0x4), umask(0x08D4, 0x8),
    umask(0x0175, gp0), umask(0x0275, gp1), umask(0x21D3, gp0), umask(0x22D3, gp0),
};
constexpr ConstraintRow arctic_wolf_pebs[] = {
    umask(0x05D0, gp0_7), umask(0x06D0, gp0_7), umask(0x01D4, 0x1),
    umask(0x02D4, 0x2),   umask(0x04D4, 0x4),   umask(0x08D4, 0x8),
};

}  // namespace

const ConstraintTables old_atom_constraints{three_fixed, {}, old_atom_pebs};
const ConstraintTables goldmont_plus_constraints{three_fixed, {}, {}};
const ConstraintTables gracemont_constraints{gracemont_fixed, {}, gracemont_pebs};
const ConstraintTables skymont_constraints{skymont_fixed, {}, gracemont_pebs};
const ConstraintTables arctic_wolf_constraints{skymont_fixed, arctic_wolf_main, arctic_wolf_pebs};

}  // namespace pmusim::driver

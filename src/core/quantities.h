// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CORE_QUANTITIES_H
#define PMUSIM_SRC_CORE_QUANTITIES_H

#include "pmusim/cpu/retirement.h"

namespace pmusim {

inline u32& at(Quantities& quantities, Quantity which) { return quantities[static_cast<unsigned>(which)]; }

}  // namespace pmusim

#endif

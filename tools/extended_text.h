// SPDX-License-Identifier: MIT
#ifndef PMUSIM_TOOLS_EXTENDED_TEXT_H
#define PMUSIM_TOOLS_EXTENDED_TEXT_H

#include <string>
#include <vector>

#include "pmusim/arch/xsave.h"

namespace pmusim::tools {

struct RegisterText {
  std::string name;
  std::string value;  ///< hexadecimal, the highest digit first
};

/// The registers that a change wrote, with their values after it: a vector register as wide as it is in use
/// ("xmm3", "ymm3", "zmm3"), "k1", "st0", "mxcsr", "pkru", "r16", "ssp"; what has no name of its own as
/// component and qword.
std::vector<RegisterText> changed_registers(const ExtendedChange& change, const ExtendedState& after);

}  // namespace pmusim::tools

#endif

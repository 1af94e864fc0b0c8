// SPDX-License-Identifier: MIT
#ifndef PMUSIM_CORE_PARAMETERS_H
#define PMUSIM_CORE_PARAMETERS_H

#include "pmusim/cpu/model.h"

namespace pmusim {

/// Whether the timing model can be built with these. Errors name the parameter, its value and what it may be.
Result<Done, Error> check_parameters(const CoreParameters& parameters);

}  // namespace pmusim

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_CAPI_NAMES_H
#define PMUSIM_SRC_CAPI_NAMES_H

#include <string_view>

#include "pmusim/cpu/retirement.h"

namespace pmusim::capi {

/// What C calls by name, since these lists grow. Throws Misuse with near names for what is none.
Signal signal_called(std::string_view name);
Quantity quantity_called(std::string_view name);

}  // namespace pmusim::capi

#endif

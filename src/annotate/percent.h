// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_PERCENT_H
#define PMUSIM_SRC_ANNOTATE_PERCENT_H

#include "pmusim/base/types.h"

namespace pmusim::annotate {

/// Of nothing, every part is 0 %.
inline double percent_of(u64 part, u64 whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace pmusim::annotate

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_STACK_LIST_H
#define PMUSIM_SRC_ANNOTATE_STACK_LIST_H

#include "pmusim/annotate/report.h"

namespace pmusim::annotate {

/// One of a report's distinct call stacks.
struct ListedStack {
  std::vector<u32> symbols;  ///< outermost first, in Report::symbols; never empty
  Weights weights;
};

/// The stacks that samples have, in the report's order; of a report without call stacks one for each symbol.
std::vector<ListedStack> listed_stacks(const Report& report);

}  // namespace pmusim::annotate

#endif

// SPDX-License-Identifier: MIT
#ifndef PMUSIM_SRC_ANNOTATE_REPORT_BUILDER_H
#define PMUSIM_SRC_ANNOTATE_REPORT_BUILDER_H

#include <map>

#include "code_counts.h"
#include "pmusim/annotate/report.h"
#include "resolver.h"

namespace pmusim::annotate {

/// Fills in everything about code: modules, symbols, lines, branches, functions, paths and stacks.
void build_report(Report& report, const std::map<CodeSpace, SpaceCounts>& spaces, Resolver& resolver,
                  const Options& options);

}  // namespace pmusim::annotate

#endif
